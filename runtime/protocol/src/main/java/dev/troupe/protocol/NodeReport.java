package dev.troupe.protocol;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The report of a node on its run to a coordinator that takes over.
 *
 * @param epoch the last epoch that it has entered
 * @param hosts the node of each rank in that epoch
 * @param since for each node with other ranks than at first, the epoch of the change
 * @param commits the last commits that it knows
 * @param versions by rank, the steps after which this node has all states of the rank: its own or copies
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

    /** Returns by rank the steps, {@code stepsDone} or more, after which this node has all states of the rank. */
    public Map<Integer, List<Long>> versionsSince(long stepsDone) {
        Map<Integer, List<Long>> since = new TreeMap<>();
        versions.forEach((rank, all) -> since.put(rank, all.stream().filter(steps -> steps >= stepsDone).toList()));
        return since;
    }
}
