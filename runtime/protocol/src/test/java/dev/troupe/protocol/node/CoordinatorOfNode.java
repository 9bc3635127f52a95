package dev.troupe.protocol.node;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** A coordinator with its orders to the node, which arrive in order, and late if it is lost. */
final class CoordinatorOfNode {
    static final List<List<Integer>> GROUPS = List.of(List.of(0, 1), List.of(2, 3), List.of(4, 5));
    static final List<String> NAMES = List.of("a", "b", "c");

    final int term;
    final Deque<NodeEvent.Order> orders = new ArrayDeque<>();
    boolean isAlive = true;
    /** Whether it has given the order to host ranks, and whether the node has it. */
    boolean hasHosted;
    boolean isWatched;
    int epoch;
    List<String> hosts;

    CoordinatorOfNode(int term, int epoch, List<String> hosts) {
        this.term = term;
        this.epoch = epoch;
        this.hosts = hosts;
    }

    /** Draws the node of each rank; a group has one. */
    static List<String> anyHosts(Random random) {
        List<String> all = new ArrayList<>();
        GROUPS.forEach(group -> {
            String node = NAMES.get(random.nextInt(NAMES.size()));
            group.forEach(_ -> all.add(node));
        });
        return all;
    }
}
