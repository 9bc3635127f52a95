package dev.troupe.protocol.node;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** A coordinator with its orders to the node, which arrive in order, and late where it is lost. */
final class CoordinatorOfNode {
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
}
