package dev.troupe.schedule.certificate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;

/**
 * How many messages an edge holds at most, sent and not yet received, whatever the actions take. For each edge the plan is
 * walked in the order that is worst for it: all that does not wait for it comes first, then one receive, and so on.
 */
final class InFlight {
    private static final int NO_EDGE = -1;

    private final Plan plan;
    private final int creditsPerEdge;
    /** The edges in the order of first use, with the number of messages that each carries. */
    private final SequencedMap<Edge, Integer> messages = new LinkedHashMap<>();
    /** For each place the edge of its message, by its number in {@link #messages}. */
    private final int[][] edges;
    /** For each receive the position of its send in the sender's row; -1 for all else. */
    private final int[][] sends;
    private final int[][] senders;

    InFlight(PlanIndex index, int creditsPerEdge) {
        this.plan = index.plan();
        this.creditsPerEdge = creditsPerEdge;
        int ranks = plan.rankCount();
        this.edges = new int[ranks][];
        this.sends = new int[ranks][];
        this.senders = new int[ranks][];
        Map<Edge, Integer> numbers = new LinkedHashMap<>();
        for (int rank = 0; rank < ranks; rank++) {
            List<Action> row = plan.rows().get(rank);
            edges[rank] = new int[row.size()];
            sends[rank] = new int[row.size()];
            senders[rank] = new int[row.size()];
            for (int position = 0; position < row.size(); position++) {
                Action action = row.get(position);
                edges[rank][position] = NO_EDGE;
                sends[rank][position] = -1;
                if (action.kind().isMessage()) {
                    Edge edge = Edge.of(plan, action);
                    edges[rank][position] = numbers.computeIfAbsent(edge, unused -> numbers.size());
                    boolean receives = edge.toStage() == action.stage();
                    messages.merge(edge, receives ? 0 : 1, Integer::sum);
                    if (receives) {
                        senders[rank][position] = edge.fromRank();
                        sends[rank][position] = index.find(action.peer()).position();
                    }
                }
            }
        }
    }

    /** How many messages each edge carries in a step. */
    SequencedMap<Edge, Integer> messages() {
        return messages;
    }

    /** How many messages each edge holds at most. */
    SequencedMap<Edge, Integer> peaks() {
        List<Edge> all = new ArrayList<>(messages.keySet());
        SequencedMap<Edge, Integer> peaks = new LinkedHashMap<>();
        for (int edge = 0; edge < all.size(); edge++) {
            peaks.put(all.get(edge), new Walk(edge, all.get(edge).toRank()).peak());
        }
        return peaks;
    }

    /** One walk through the whole plan that puts off the receives of one edge. */
    private final class Walk {
        private final int edge;
        private final int receiver;
        private final int[] positions = new int[plan.rankCount()];
        private int inFlight;
        private int peak;

        Walk(int edge, int receiver) {
            this.edge = edge;
            this.receiver = receiver;
        }

        int peak() {
            boolean received = true;
            while (received && peak < creditsPerEdge) {
                advanceAll();
                received = receive();
            }
            return Math.min(peak, creditsPerEdge);
        }

        private void advanceAll() {
            boolean moved = true;
            while (moved && peak < creditsPerEdge) {
                moved = false;
                for (int rank = 0; rank < positions.length; rank++) {
                    moved |= advance(rank);
                }
            }
        }

        private boolean advance(int rank) {
            int before = positions[rank];
            while (positions[rank] < edges[rank].length && mayPass(rank, positions[rank])) {
                if (edges[rank][positions[rank]] == edge) {
                    inFlight++;
                    peak = Math.max(peak, inFlight);
                }
                positions[rank]++;
            }
            return positions[rank] > before;
        }

        private boolean mayPass(int rank, int position) {
            int send = sends[rank][position];
            return send < 0 || edges[rank][position] != edge && positions[senders[rank][position]] > send;
        }

        /** Lets the receiver have the message it stands at; false where it stands at none. */
        private boolean receive() {
            int position = positions[receiver];
            if (position == edges[receiver].length || edges[receiver][position] != edge
                    || positions[senders[receiver][position]] <= sends[receiver][position]) {
                return false;
            }
            inFlight--;
            positions[receiver]++;
            return true;
        }
    }
}
