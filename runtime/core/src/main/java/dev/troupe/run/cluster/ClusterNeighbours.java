package dev.troupe.run.cluster;

import dev.troupe.config.cluster.Buddies;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.run.cluster.machine.MachineDriver;
import dev.troupe.run.setup.Neighbours;
import dev.troupe.transport.NodeMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The neighbours of the nodes of a cluster file. */
record ClusterNeighbours(ClusterSpec cluster, TrainingPlan plan, NodeSpec self, int receiverId) implements Neighbours {
    @Override
    public NodeMap map(List<String> hosts, Map<String, Integer> since) {
        return MachineDriver.map(cluster, plan, self, hosts.stream().map(this::indexOf).toList(), since);
    }

    @Override
    public int indexOf(String name) {
        return cluster.nodes().stream().map(NodeSpec::name).toList().indexOf(name);
    }

    /** Returns the buddy of each node; see {@link Buddies}. */
    static ReplicaTable.Buddies buddies(ClusterSpec cluster) {
        return (hosts, present) -> {
            List<String> names = cluster.nodes().stream().map(NodeSpec::name).toList();
            Set<Integer> alive = present.stream().map(names::indexOf).collect(Collectors.toSet());
            return Buddies.of(cluster.nodes(), hosts.stream().map(names::indexOf).toList(), alive).entrySet().stream()
                    .collect(Collectors.toMap(pair -> names.get(pair.getKey()), pair -> names.get(pair.getValue())));
        };
    }
}
