package dev.troupe.protocol.run;

import dev.troupe.protocol.Edge;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** All processes of the nodes of a run: those that live, those that have ended, and the names that are to come back. */
final class SimulatedNodes {
    // In the order in which they came.
    private final List<SimulatedNode> all = new ArrayList<>();
    private final Deque<String> comingBack = new ArrayDeque<>();

    /** Adds a process. Another one that had its name ended long ago, and the network drops its messages. */
    void add(SimulatedNode node) {
        all.stream().filter(other -> other.name().equals(node.name())).forEach(SimulatedNode::silence);
        all.add(node);
    }

    int count() {
        return all.size();
    }

    List<SimulatedNode> all() {
        return all;
    }

    SimulatedNode get(int index) {
        return all.get(index);
    }

    /** Returns the present or last node of a name; null if there is none. */
    SimulatedNode find(String name) {
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).name().equals(name)) {
                return all.get(i);
            }
        }
        return null;
    }

    /**
     * Returns the place at which a message arrives: a node that its rank has left without knowing it counts until another
     * one has the rank.
     */
    Optional<SimulatedNode> receiverOf(Edge edge) {
        SimulatedNode last = null;
        for (SimulatedNode node : all) {
            if (node.transport().receivesFor(edge.toRank())
                    && (last == null || isLater(node.transport(), last.transport()))) {
                last = node;
            }
        }
        return Optional.ofNullable(last);
    }

    private static boolean isLater(TransportOfNode one, TransportOfNode other) {
        return one.term() != other.term() ? one.term() > other.term() : one.epoch() > other.epoch();
    }

    void addMoves(List<Move> moves) {
        all.forEach(node -> node.addMoves(moves));
    }

    /** A process ends; its node will come back. */
    void die(SimulatedNode victim) {
        victim.die();
        comingBack.add(victim.name());
    }

    boolean hasSomeToComeBack() {
        return !comingBack.isEmpty();
    }

    String nextToComeBack() {
        return comingBack.remove();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        all.forEach(node -> text.append("\n  ").append(node));
        return text.toString();
    }
}
