package dev.troupe.protocol;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A node's report on its run, for a coordinator that takes over.
 *
 * @param epoch the last epoch that it has entered
 * @param hosts the node of each rank in that epoch
 * @param since for each node that has gained or lost ranks, the epoch of the change
 * @param commits the last commits known to the node
 * @param versions for each rank, the commits (as steps done) of which this node has the complete state, its own or a copy
 */
public record NodeReport(int epoch, List<String> hosts, Map<String, Integer> since, List<Commit> commits,
        Map<Integer, List<Long>> versions) {
    public NodeReport {
        hosts = List.copyOf(hosts);
        since = FixedOrder.copyOf(since);
        commits = List.copyOf(commits);
        versions = FixedOrder.copyOf(versions);
    }

    public boolean has(int rank, long stepsDone) {
        return versions.getOrDefault(rank, List.of()).contains(stepsDone);
    }

    /** Returns for each rank the commits of {@code stepsDone} or more steps of which this node has the complete state. */
    public Map<Integer, List<Long>> versionsSince(long stepsDone) {
        Map<Integer, List<Long>> since = new TreeMap<>();
        versions.forEach((rank, all) -> since.put(rank, all.stream().filter(steps -> steps >= stepsDone).toList()));
        return since;
    }
}
