package dev.troupe.run.cluster.machine;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.rank.group.NodeGroups;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The memory that a node needs to take over the ranks of a dead process. */
final class Takeover {
    private Takeover() {
    }

    /**
     * Returns the additional bytes in the directory of a machine's media driver for the worst takeover of one node's ranks
     * by another. The node that takes over has new streams to the nodes with which it exchanges tensors. The groups of the
     * restarted pipeline places are created again.
     *
     * @param there the maps of the machine's nodes at the start
     */
    static long mostDriverBytes(TrainingPlan plan, List<NodeMap> there, TransportSettings settings) {
        if (there.isEmpty()) {
            return 0;
        }
        int nodeCount = there.getFirst().nodeCount();
        return IntStream.range(0, nodeCount)
                .mapToLong(lost -> IntStream.range(0, nodeCount).filter(heir -> heir != lost)
                        .mapToLong(heir -> driverBytes(plan, there, settings, lost, heir)).max().orElse(0))
                .max().orElse(0);
    }

    private static long driverBytes(TrainingPlan plan, List<NodeMap> there, TransportSettings settings, int lost,
            int heir) {
        List<Integer> before = there.getFirst().nodeOfRank();
        List<Integer> after = before.stream().map(node -> node == lost ? heir : node).toList();
        Set<Integer> places = IntStream.range(0, before.size()).filter(rank -> before.get(rank) == lost)
                .mapToObj(rank -> plan.ranks().coordinates(rank).pipeline()).collect(Collectors.toSet());
        int epoch = 1;
        return there.stream().filter(node -> node.self() != lost && !places.isEmpty()).mapToLong(node -> {
            NodeMap moved = node.moved(epoch, after, Peers.of(plan, after, node.self()));
            return DriverHandle.streamBytes(moved, epoch, settings)
                    + NodeGroups.driverBytes(plan.ranks(), moved, settings.network(), places);
        }).sum();
    }
}
