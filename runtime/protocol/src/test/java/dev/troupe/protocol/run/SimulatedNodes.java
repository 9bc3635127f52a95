package dev.troupe.protocol.run;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.NodeReport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** All nodes of a run: those that live, those whose death is not known yet, and those that are to come back. */
final class SimulatedNodes {
    // In the order in which they came.
    private final List<SimulatedNode> all = new ArrayList<>();
    private final Deque<SimulatedNode> unnoticed = new ArrayDeque<>();
    private final Deque<String> comingBack = new ArrayDeque<>();

    /** One comes. Another process that had its name is long gone, and the network takes nothing more of what it said. */
    void add(SimulatedNode node) {
        all.stream().filter(other -> other.name().equals(node.name())).forEach(SimulatedNode::silence);
        all.add(node);
    }

    int count() {
        return all.size();
    }

    SimulatedNode get(int index) {
        return all.get(index);
    }

    long living() {
        return all.stream().filter(node -> !node.isDead()).count();
    }

    /** The node of a name that is there, or was last; null where there is none. */
    SimulatedNode find(String name) {
        return all.reversed().stream().filter(node -> node.name().equals(name)).findFirst().orElse(null);
    }

    /**
     * Where a message arrives: a node that its rank has left, and that does not know yet, is the place no more once
     * another is.
     */
    Optional<SimulatedNode> receiverOf(Edge edge) {
        return all.stream().filter(node -> node.receivesFor(edge.toRank()))
                .max(Comparator.comparingInt(SimulatedNode::transportEpoch));
    }

    void tellAll(RunCommand news) {
        all.forEach(node -> node.tell(news));
    }

    void addMoves(List<Move> moves) {
        all.forEach(node -> node.addMoves(moves));
    }

    void die(SimulatedNode victim) {
        victim.die();
        unnoticed.add(victim);
    }

    boolean hasUnnoticedDeath() {
        return !unnoticed.isEmpty();
    }

    /** A death is noticed; its node will come back. */
    SimulatedNode notice() {
        SimulatedNode dead = unnoticed.remove();
        comingBack.add(dead.name());
        return dead;
    }

    boolean hasSomeToComeBack() {
        return !comingBack.isEmpty();
    }

    String nextToComeBack() {
        return comingBack.remove();
    }

    /** What all that live know, by their names. */
    Map<String, NodeReport> reports(SimulatedPlan plan) {
        Map<String, NodeReport> told = new TreeMap<>();
        all.stream().filter(node -> !node.isDead()).forEach(node -> told.put(node.name(), node.report(plan)));
        return told;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        all.forEach(node -> text.append("\n  ").append(node));
        return text.toString();
    }
}
