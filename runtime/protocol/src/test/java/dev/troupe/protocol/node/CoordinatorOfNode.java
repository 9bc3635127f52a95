package dev.troupe.protocol.node;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

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

    /** Begins an epoch, as after a failure, if it leads the run. */
    void recover(Random random, long stepsDone) {
        if (isAlive && hasHosted) {
            enter(random, stepsDone, random.nextInt(5) == 0);
        }
    }

    /** Begins an epoch: the groups that move start again, and perhaps others. */
    void enter(Random random, long stepsDone, boolean allStart) {
        List<String> moved = random.nextInt(3) == 0 ? anyHosts(random) : hosts;
        List<Integer> restarted = GROUPS.stream().filter(group -> allStart || random.nextInt(3) == 0
                || !moved.get(group.getFirst()).equals(hosts.get(group.getFirst()))).flatMap(List::stream).toList();
        epoch++;
        hosts = moved;
        orders.add(new NodeEvent.EnterEpoch(epoch, restarted, stepsDone, moved, Map.of()));
    }

    void commit(long stepsDone) {
        orders.add(new NodeEvent.Committed(new Commit(stepsDone, LossScale.none(stepsDone))));
    }

    /** Draws the buddy of each rank. */
    void keepCopies(Random random, long stepsDone) {
        orders.add(new NodeEvent.KeepCopies(stepsDone,
                IntStream.range(0, 6).mapToObj(_ -> NAMES.get(random.nextInt(3))).toList(),
                Map.of("a", 1, "b", 2)));
    }
}
