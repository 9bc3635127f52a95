package dev.troupe.protocol;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a node knows of its run, told to a coordinator that takes over.
 *
 * @param epoch the last that it has entered
 * @param hosts for each rank its node, as that epoch has it
 * @param since for each node whose ranks are others than at first, the epoch since which it has those
 * @param commits the last that it was told of
 * @param versions by rank, after how many steps this node has all that it kept: its own or copies
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

    /** Returns by rank the steps, not fewer than {@code stepsDone}, after which this node has all that the rank kept. */
    public Map<Integer, List<Long>> versionsSince(long stepsDone) {
        Map<Integer, List<Long>> since = new TreeMap<>();
        versions.forEach((rank, all) -> since.put(rank, all.stream().filter(steps -> steps >= stepsDone).toList()));
        return since;
    }
}
