package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.Edge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What lies between the transports of two nodes, with no tensor or thread: a message leaves when its edge has a credit of its
 * epoch, messages of an edge keep their order, and edges do not wait for each other. When a message lands is the caller's
 * choice, and so is whether it is lost or comes twice. A receiver that has entered an epoch takes nothing of an earlier one.
 */
final class Carrier {
    private static final Comparator<Edge> ORDER = Comparator.comparingInt(Edge::stage).thenComparing(Edge::kind);

    /** A message under way. */
    record Message(Edge edge, int microbatch, long pass, int epoch, long content) {
    }

    /** What becomes of a message that arrives. */
    enum Arrival {
        LANDS, IS_FENCED, FINDS_NO_BUFFER
    }

    /** One edge: its sender's book, what is on its way, and its receiver's book. */
    private static final class Road {
        private final Deque<Message> held = new ArrayDeque<>();
        private int credits;
        private int creditEpoch;
        private final Deque<Message> flying = new ArrayDeque<>();
        private int buffers;

        void letGo() {
            while (credits > 0 && !held.isEmpty() && held.getFirst().epoch() == creditEpoch) {
                credits--;
                flying.add(held.remove());
            }
        }
    }

    private final Map<Edge, Road> roads = new TreeMap<>(ORDER);
    // Of the node of each rank.
    private final int[] epochs;
    private final boolean isFenced;

    /**
     * @param isFenced
     *            false to break the protocol: what is of an earlier epoch lands too
     */
    Carrier(int rankCount, boolean isFenced) {
        this.epochs = new int[rankCount];
        this.isFenced = isFenced;
    }

    /** A receiver grants a buffer in the epoch of its node; the credit is with the sender at once. */
    void grant(int epoch, Edge edge) {
        Road road = road(edge);
        road.buffers++;
        if (epoch < road.creditEpoch) {
            return; // its sender has entered a later epoch
        }
        if (epoch > road.creditEpoch) {
            road.creditEpoch = epoch;
            road.credits = 0;
        }
        road.credits++;
        road.letGo();
    }

    void send(Message message) {
        Road road = road(message.edge());
        road.held.add(message);
        road.letGo();
    }

    /** The senders of a node enter an epoch: what they held goes back to their logs. */
    void enterAsSender(Collection<Integer> ranks, int epoch) {
        roads.forEach((edge, road) -> {
            if (ranks.contains(edge.fromRank())) {
                road.held.removeIf(message -> message.epoch() < epoch);
                if (road.creditEpoch < epoch) {
                    road.creditEpoch = epoch;
                    road.credits = 0;
                }
                road.letGo();
            }
        });
    }

    /** The receivers of a node enter an epoch: returns the edges of the buffers they had granted, once for each. */
    List<Edge> enterAsReceiver(Collection<Integer> ranks, int epoch) {
        List<Edge> back = new ArrayList<>();
        ranks.forEach(rank -> epochs[rank] = epoch);
        roads.forEach((edge, road) -> {
            for (; ranks.contains(edge.toRank()) && road.buffers > 0; road.buffers--) {
                back.add(edge);
            }
        });
        return back;
    }

    /** The node of these ranks is gone, with what its books had and what is on its way to it. */
    void forget(Collection<Integer> ranks) {
        roads.forEach((edge, road) -> {
            if (ranks.contains(edge.fromRank())) {
                road.held.clear();
            }
            if (ranks.contains(edge.toRank())) {
                road.flying.clear();
                road.buffers = 0;
            }
        });
    }

    /** Adds to the list the edges on which a message is on its way. */
    void addFlying(List<Edge> edges) {
        roads.forEach((edge, road) -> {
            if (!road.flying.isEmpty()) {
                edges.add(edge);
            }
        });
    }

    /** What becomes of the first message of an edge. */
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

    /** Takes the first message of an edge off it, into a buffer where it lands. */
    Message take(Edge edge, Arrival arrival) {
        Road road = road(edge);
        if (arrival == Arrival.LANDS) {
            road.buffers--;
        }
        return road.flying.remove();
    }

    /** The first message of an edge is there twice. */
    void duplicate(Edge edge) {
        Deque<Message> flying = road(edge).flying;
        flying.addFirst(flying.getFirst());
    }

    /** Buffers that stand ready on an edge. */
    int buffers(Edge edge) {
        return road(edge).buffers;
    }

    /** Nothing waits for a credit and nothing is on its way. */
    boolean isEmpty() {
        return roads.values().stream().allMatch(road -> road.held.isEmpty() && road.flying.isEmpty());
    }

    private Road road(Edge edge) {
        return roads.computeIfAbsent(edge, _ -> new Road());
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
