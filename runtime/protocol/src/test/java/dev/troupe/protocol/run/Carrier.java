package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Edge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The network between the transports of two nodes, with no tensor or thread: a message leaves when its edge has a credit of
 * its epoch, messages of an edge keep their order, and edges do not wait for each other. The caller chooses when a message
 * lands, and whether it is lost or comes twice. A receiver that has entered an epoch takes nothing of an earlier one.
 */
final class Carrier {
    static final int FIRST_TERM = 1;
    private static final String NOWHERE = "";

    /** A message in flight. */
    record Message(Edge edge, int microbatch, long pass, int epoch, long content) {
    }

    /** The result of a message's arrival. */
    enum Arrival {
        LANDS, IS_FENCED, FINDS_NO_BUFFER
    }

    /** One edge: its sender's book, its messages in flight, and its receiver's book. */
    private static final class Road {
        // The term of the latest coordinator of an epoch that one of its ends has entered.
        private int term;
        private final Deque<Message> held = new ArrayDeque<>();
        private int credits;
        private int creditEpoch;
        private final Deque<Message> flying = new ArrayDeque<>();
        private int buffers;

        Road(int term) {
            this.term = term;
        }

        /**
         * Enters an epoch of a later coordinator at one end: its streams are new, so nothing arrives from an epoch of the
         * earlier one with a later number.
         */
        void enter(int later, int epoch) {
            if (term < later) {
                term = later;
                credits = 0;
                creditEpoch = 0;
                held.clear();
                flying.removeIf(message -> message.epoch() >= epoch);
            }
        }

        void letGo() {
            while (credits > 0 && !held.isEmpty() && held.getFirst().epoch() == creditEpoch) {
                credits--;
                flying.add(held.remove());
            }
        }
    }

    private final Map<Edge, Road> roads = new TreeMap<>(Carrier::compare);
    // By rank: its node, and the epoch of the node with the term of the coordinator that began it.
    private final String[] hosts;
    private final int[] epochs;
    private final int[] terms;
    private final boolean isFenced;

    /**
     * @param firstHosts the first node of each rank
     * @param isFenced false to break the protocol: messages of an earlier epoch land too
     */
    Carrier(List<String> firstHosts, boolean isFenced) {
        this.hosts = firstHosts.toArray(String[]::new);
        this.epochs = new int[hosts.length];
        this.terms = new int[hosts.length];
        this.isFenced = isFenced;
    }

    /** By stage, kind, receiver and sender. */
    private static int compare(Edge one, Edge other) {
        int stage = Integer.compare(one.stage(), other.stage());
        int kind = stage != 0 ? stage : one.kind().compareTo(other.kind());
        int to = kind != 0 ? kind : Integer.compare(one.toRank(), other.toRank());
        return to != 0 ? to : Integer.compare(one.fromRank(), other.fromRank());
    }

    /** A receiver grants a buffer in the epoch of its node; the credit is with the sender at once. */
    void grant(String node, int term, int epoch, Edge edge) {
        if (!hosts[edge.toRank()].equals(node)) {
            return; // it has left that node
        }
        Road road = road(edge);
        road.buffers++;
        if (term < road.term || epoch < road.creditEpoch) {
            return; // its sender has entered a later epoch
        }
        if (epoch > road.creditEpoch) {
            road.creditEpoch = epoch;
            road.credits = 0;
        }
        road.credits++;
        road.letGo();
    }

    /** A sender hands a message to its node; lost if it has left that node, or its receiver has another coordinator. */
    void send(String node, int term, Message message) {
        Road road = road(message.edge());
        if (!hosts[message.edge().fromRank()].equals(node) || term < road.term) {
            return;
        }
        road.held.add(message);
        road.letGo();
    }

    /** The node of a rank, as the transports have it; empty text for none. */
    String hostOf(int rank) {
        return hosts[rank];
    }

    /** Returns whether a message of a rank that lives on a node waits for a credit. */
    boolean isHeld(String node, Edge edge, long content) {
        return hosts[edge.fromRank()].equals(node)
                && road(edge).held.stream().anyMatch(message -> message.content() == content);
    }

    /**
     * Enters an epoch on a node, with the ranks that live there from then on: unsent messages go back to their logs. Returns
     * the edges of the buffers that its receivers had granted, once for each. The books of new ranks there are empty, and
     * the books of ranks that have left it are dropped. A rank that has another node in a later epoch remains there: a node
     * that is cut off may enter an earlier epoch after that, and has streams of its own.
     *
     * @param term the term of the coordinator that began the epoch
     */
    List<Edge> enter(String node, Collection<Integer> ranks, int term, int epoch) {
        List<Integer> here = ranks.stream().filter(rank -> hosts[rank].equals(node) || terms[rank] < term
                || terms[rank] == term && epochs[rank] < epoch).toList();
        for (int rank = 0; rank < hosts.length; rank++) {
            if (here.contains(rank) != hosts[rank].equals(node)) {
                forget(rank);
                hosts[rank] = here.contains(rank) ? node : NOWHERE;
            }
        }
        here.forEach(rank -> {
            epochs[rank] = epoch;
            terms[rank] = term;
        });
        List<Edge> back = new ArrayList<>();
        roads.forEach((edge, road) -> {
            if (here.contains(edge.fromRank()) || here.contains(edge.toRank())) {
                road.enter(term, epoch);
            }
            if (here.contains(edge.fromRank())) {
                road.held.removeIf(message -> message.epoch() < epoch);
                if (road.creditEpoch < epoch) {
                    road.creditEpoch = epoch;
                    road.credits = 0;
                }
                road.letGo();
            }
            for (; here.contains(edge.toRank()) && road.buffers > 0; road.buffers--) {
                back.add(edge);
            }
        });
        return back;
    }

    private void forget(int rank) {
        roads.forEach((edge, road) -> {
            if (edge.fromRank() == rank) {
                road.held.clear();
            }
            if (edge.toRank() == rank) {
                road.buffers = 0;
            }
        });
    }

    /** Removes a node, with its books and the messages in flight to it. */
    void forget(String node) {
        for (int rank = 0; rank < hosts.length; rank++) {
            if (hosts[rank].equals(node)) {
                int gone = rank;
                forget(rank);
                roads.forEach((edge, road) -> {
                    if (edge.toRank() == gone) {
                        road.flying.clear();
                    }
                });
            }
        }
    }

    /** Returns the edges with a message in flight. */
    List<Edge> flying() {
        List<Edge> edges = new ArrayList<>();
        roads.forEach((edge, road) -> {
            if (!road.flying.isEmpty()) {
                edges.add(edge);
            }
        });
        return edges;
    }

    /** Returns the result of the first message's arrival on an edge. */
    Arrival arrival(Edge edge) {
        Road road = road(edge);
        int epoch = road.flying.getFirst().epoch();
        int receivers = epochs[edge.toRank()];
        assertTrue(epoch <= receivers, () -> "a message of epoch " + epoch + " came on " + edge
                + " before its receiver had left epoch " + receivers);
        if (isFenced && epoch < receivers) {
            return Arrival.IS_FENCED;
        }
        return road.buffers == 0 ? Arrival.FINDS_NO_BUFFER : Arrival.LANDS;
    }

    /** Takes the first message of an edge off it, into a buffer if it lands. */
    Message take(Edge edge, Arrival arrival) {
        Road road = road(edge);
        if (arrival == Arrival.LANDS) {
            road.buffers--;
        }
        return road.flying.remove();
    }

    /** Doubles the first message of an edge. */
    void duplicate(Edge edge) {
        Deque<Message> flying = road(edge).flying;
        flying.addFirst(flying.getFirst());
    }

    /** Returns the number of buffers that are ready on an edge. */
    int buffers(Edge edge) {
        return road(edge).buffers;
    }

    /** Returns whether no message waits for a credit or is in flight. */
    boolean isEmpty() {
        return roads.values().stream().allMatch(road -> road.held.isEmpty() && road.flying.isEmpty());
    }

    private Road road(Edge edge) {
        return roads.computeIfAbsent(edge,
                _ -> new Road(Math.max(FIRST_TERM, Math.max(terms[edge.fromRank()], terms[edge.toRank()]))));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        roads.forEach((edge, road) -> text.append("\n  ").append(edge).append(": ").append(road.buffers)
                .append(" buffers, ").append(road.credits).append(" credits of epoch ").append(road.creditEpoch)
                .append(", held ").append(road.held).append(", on their way ").append(road.flying));
        return text.toString();
    }
}
