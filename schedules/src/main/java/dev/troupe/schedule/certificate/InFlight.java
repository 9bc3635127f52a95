package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * The largest number of messages on an edge, sent and not yet received, whatever time actions take. The worst order for an
 * edge delays its receives until nothing else is possible.
 */
final class InFlight {
    private static final int NO_EDGE = -1;

    private final Plan plan;
    /** The edges in the order of first use, with their numbers of messages. */
    private final SequencedMap<StageEdge, Integer> messages = new LinkedHashMap<>();
    /** For each place the edge of its message, by its number in {@link #messages}. */
    private final int[][] edges;
    /** For each receive the position of its send in the sender's row; -1 for all else. */
    private final int[][] sends;
    private final int[][] senders;

    InFlight(PlanIndex index) {
        this.plan = index.plan();
        int ranks = plan.rankCount();
        this.edges = new int[ranks][];
        this.sends = new int[ranks][];
        this.senders = new int[ranks][];
        Map<StageEdge, Integer> numbers = new LinkedHashMap<>();
        for (int rank = 0; rank < ranks; rank++) {
            List<Action> row = plan.rows().get(rank);
            edges[rank] = new int[row.size()];
            sends[rank] = new int[row.size()];
            senders[rank] = new int[row.size()];
            for (int position = 0; position < row.size(); position++) {
                Action action = row.get(position);
                edges[rank][position] = NO_EDGE;
                sends[rank][position] = -1;
                if (action.kind().isTransfer()) {
                    StageEdge edge = StageEdge.of(plan, action);
                    edges[rank][position] = numbers.computeIfAbsent(edge, unused -> numbers.size());
                    boolean receives = edge.toStage() == action.stage();
                    messages.merge(edge, receives ? 0 : 1, Integer::sum);
                    if (receives) {
                        senders[rank][position] = edge.fromRank();
                        sends[rank][position] = index.find(plan.peer(action)).position();
                    }
                }
            }
        }
    }

    SequencedMap<StageEdge, Integer> messages() {
        return messages;
    }

    /** Returns the most messages that each edge holds with unlimited credits. */
    SequencedMap<StageEdge, Integer> peaks() {
        int[] peaks = new Clocks().run();
        SequencedMap<StageEdge, Integer> named = new LinkedHashMap<>();
        messages.keySet().forEach(edge -> named.put(edge, peaks[named.size()]));
        return named;
    }

    /**
     * A walk through the whole plan in any order that the plan allows, with vector clocks (Fidge 1988, Mattern 1989). The
     * clock of a rank is the part of every row that must be done by then. It gives the receives of an edge that must precede
     * a send; all other messages sent before may be in flight.
     */
    private final class Clocks {
        private final int ranks = plan.rankCount();
        private final int[] positions = new int[ranks];
        /** For each rank the number of actions of every rank that must have been done. */
        private final int[][] done = new int[ranks][ranks];
        /** The clock of the sender, for each message that was sent and not received in this walk. */
        private final int[][][] sentWith = new int[ranks][][];
        private final Deque<int[]> free = new ArrayDeque<>();
        private final int[][] receives;
        private final int[] receiver;
        private final int[] sent;
        private final int[] received;
        private final int[] peaks;

        Clocks() {
            int count = messages.size();
            receiver = messages.keySet().stream().mapToInt(StageEdge::toRank).toArray();
            sent = new int[count];
            received = new int[count];
            peaks = new int[count];
            receives = new int[count][];
            int edge = 0;
            for (int each : messages.values()) {
                receives[edge++] = new int[each];
            }
            int[] found = new int[count];
            for (int rank = 0; rank < ranks; rank++) {
                sentWith[rank] = new int[edges[rank].length][];
                for (int position = 0; position < edges[rank].length; position++) {
                    if (sends[rank][position] >= 0) {
                        int of = edges[rank][position];
                        receives[of][found[of]++] = position;
                    }
                }
            }
        }

        int[] run() {
            boolean moved = true;
            while (moved) {
                moved = false;
                for (int rank = 0; rank < ranks; rank++) {
                    int before = positions[rank];
                    while (positions[rank] < edges[rank].length && pass(rank, positions[rank])) {
                        done[rank][rank] = ++positions[rank];
                    }
                    moved |= positions[rank] > before;
                }
            }
            return peaks;
        }

        private boolean pass(int rank, int position) {
            int edge = edges[rank][position];
            if (edge == NO_EDGE) {
                return true;
            }
            int send = sends[rank][position];
            if (send < 0) {
                send(rank, position, edge);
                return true;
            }
            int sender = senders[rank][position];
            int[] with = sentWith[sender][send];
            if (with == null) {
                return false;
            }
            int[] own = done[rank];
            for (int other = 0; other < ranks; other++) {
                own[other] = Math.max(own[other], with[other]);
            }
            sentWith[sender][send] = null;
            free.push(with);
            return true;
        }

        private void send(int rank, int position, int edge) {
            int[] with = free.isEmpty() ? new int[ranks] : free.pop();
            System.arraycopy(done[rank], 0, with, 0, ranks);
            with[rank] = position + 1;
            sentWith[rank][position] = with;
            int[] of = receives[edge];
            while (received[edge] < of.length && of[received[edge]] < with[receiver[edge]]) {
                received[edge]++;
            }
            peaks[edge] = Math.max(peaks[edge], ++sent[edge] - received[edge]);
        }
    }
}
