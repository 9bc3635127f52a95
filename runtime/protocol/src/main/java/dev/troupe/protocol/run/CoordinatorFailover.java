package dev.troupe.protocol.run;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.NodeReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The state from which a new coordinator continues a run, derived from the nodes' reports. Every rank restarts in a new
 * epoch, from the newest commit of which the nodes have the state of every rank.
 *
 * @param commit the commit from which all ranks start
 * @param before the previous commit, if it is known; the run may have to go back to it
 * @param hosts the node of each rank from this epoch on
 * @param since for each node that has gained or lost ranks, the epoch of the change
 */
public record CoordinatorFailover(int epoch, Commit commit, Optional<Commit> before, List<String> hosts,
        Map<String, Integer> since) {
    /**
     * Returns the failover; empty if the state of some rank is lost.
     *
     * @param first the commit from which the run started; every node can create its state
     * @param stepsPerPass steps from one commit to the next
     * @return empty if the state of some rank is lost
     */
    public static Optional<CoordinatorFailover> of(Map<String, NodeReport> byNode, Commit first,
            int stepsPerPass) {
        NodeReport latest = byNode.values().stream().max(Comparator.comparingInt(NodeReport::epoch)).orElseThrow();
        NavigableMap<Long, Commit> commits = new TreeMap<>();
        byNode.values().forEach(report -> report.commits().forEach(commit -> commits.put(commit.stepsDone(), commit)));
        commits.put(first.stepsDone(), first);
        for (Commit commit : commits.descendingMap().values()) {
            Optional<List<String>> hosts = hosts(byNode, latest.hosts(), commit.stepsDone(), first);
            if (hosts.isPresent()) {
                int epoch = latest.epoch() + 1;
                return Optional.of(new CoordinatorFailover(epoch, commit,
                        Optional.ofNullable(commits.get(commit.stepsDone() - stepsPerPass)), hosts.get(),
                        since(latest, hosts.get(), epoch)));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns a node for each rank that can start it after {@code stepsDone} steps, its current node if possible; empty if
     * some rank has none.
     */
    private static Optional<List<String>> hosts(Map<String, NodeReport> byNode, List<String> before, long stepsDone,
            Commit first) {
        List<String> hosts = new ArrayList<>();
        for (int rank = 0; rank < before.size(); rank++) {
            int of = rank;
            String own = before.get(rank);
            Optional<String> host = byNode.entrySet().stream()
                    .filter(node -> stepsDone == first.stepsDone() || node.getValue().has(of, stepsDone))
                    .map(Map.Entry::getKey).min(Comparator.comparing((String node) -> !node.equals(own))
                            .thenComparing(Comparator.naturalOrder()));
            if (host.isEmpty()) {
                return Optional.empty();
            }
            hosts.add(host.get());
        }
        return Optional.of(hosts);
    }

    private static Map<String, Integer> since(NodeReport latest, List<String> hosts, int epoch) {
        Map<String, Integer> since = new HashMap<>(latest.since());
        for (int rank = 0; rank < hosts.size(); rank++) {
            String before = latest.hosts().get(rank);
            if (!before.equals(hosts.get(rank))) {
                since.put(before, epoch);
                since.put(hosts.get(rank), epoch);
            }
        }
        return since;
    }
}
