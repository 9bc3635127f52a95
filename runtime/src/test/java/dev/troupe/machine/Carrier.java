package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.transport.Edge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A transport without tensors or threads: a message leaves when its edge has a credit, messages of an edge keep their order,
 * and edges do not wait for each other. When a message lands, and when its sender hears that it was read, is the caller's
 * choice.
 */
final class Carrier {
    private static final Comparator<Edge> ORDER = Comparator.comparingInt(Edge::stage).thenComparing(Edge::kind);

    /** A message under way. */
    record Message(Edge edge, int microbatch, long pass) {
    }

    private static final class Road {
        private final Deque<Message> queue = new ArrayDeque<>();
        private int credits;
        private int unconsumed;
        private int unheard;
    }

    private final Map<Edge, Road> roads = new TreeMap<>(ORDER);
    private final int creditsPerEdge;

    Carrier(int creditsPerEdge) {
        this.creditsPerEdge = creditsPerEdge;
    }

    void grant(Edge edge) {
        Road road = road(edge);
        road.credits++;
        assertTrue(road.credits + road.unconsumed <= creditsPerEdge,
                () -> edge + " has more buffers than its " + creditsPerEdge + " credits");
    }

    void send(Message message) {
        road(message.edge()).queue.add(message);
    }

    /** A landed message is computed with: it is no longer in flight. */
    void consume(Edge edge) {
        road(edge).unconsumed--;
    }

    /** The edges on which a message may land now. */
    List<Edge> landable() {
        List<Edge> edges = new ArrayList<>();
        roads.forEach((edge, road) -> {
            if (road.credits > 0 && !road.queue.isEmpty()) {
                edges.add(edge);
            }
        });
        return edges;
    }

    Message land(Edge edge) {
        Road road = road(edge);
        road.credits--;
        road.unconsumed++;
        road.unheard++;
        return road.queue.remove();
    }

    /** The edges whose sender has not heard yet that a message was read. */
    List<Edge> unheard() {
        List<Edge> edges = new ArrayList<>();
        roads.forEach((edge, road) -> {
            if (road.unheard > 0) {
                edges.add(edge);
            }
        });
        return edges;
    }

    void hear(Edge edge) {
        road(edge).unheard--;
    }

    /** Nothing is queued and nothing landed is left over. */
    boolean isEmpty() {
        return roads.values().stream().allMatch(road -> road.queue.isEmpty() && road.unconsumed == 0);
    }

    private Road road(Edge edge) {
        return roads.computeIfAbsent(edge, _ -> new Road());
    }
}
