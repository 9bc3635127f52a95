package dev.troupe.cli.plan;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.profile.Profile;
import dev.troupe.schedule.simulator.Hop;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The measured ways between the machines of a cluster. */
final class ClusterWays {
    private ClusterWays() {
    }

    /** Returns the first node of each machine, in the order of the file, without standbys. */
    static List<NodeSpec> machines(ClusterSpec cluster) {
        Map<String, NodeSpec> machines = new LinkedHashMap<>();
        cluster.nodes().stream().filter(node -> !node.standby())
                .forEach(node -> machines.putIfAbsent(node.machine(), node));
        return List.copyOf(machines.values());
    }

    /**
     * Returns the way from each machine to each.
     *
     * @param file of the profile, for the sentence
     * @throws UsageException if one was not measured
     */
    static List<List<Hop>> of(Profile profile, ClusterSpec cluster, Path file) {
        List<NodeSpec> machines = machines(cluster);
        List<List<Hop>> ways = new ArrayList<>();
        for (NodeSpec from : machines) {
            ways.add(machines.stream().map(to -> from.equals(to)
                    ? Hop.FREE
                    : profile.hop(from.name(), to.name()).orElseThrow(() -> new UsageException("the profile " + file
                            + " has no way from node " + from.name() + " to " + to.name()
                            + ": measure one with ./troupe profile --node on each node of this cluster")))
                    .toList());
        }
        return ways;
    }
}
