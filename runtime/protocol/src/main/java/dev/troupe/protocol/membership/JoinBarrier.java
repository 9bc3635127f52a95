package dev.troupe.protocol.membership;

import dev.troupe.protocol.WarmUpReport;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The barrier that a run's nodes pass by joining, with the check that a node may take part.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds of one monotonic clock.
 */
public final class JoinBarrier {
    private final Roster roster;
    private long sinceNanos;
    private final TreeSet<String> missing;
    private final Map<String, WarmUpReport> warmUps = new TreeMap<>();
    private final TreeSet<String> joined = new TreeSet<>();

    public JoinBarrier(Roster roster, long nowNanos) {
        this.roster = roster;
        this.sinceNanos = nowNanos;
        this.missing = new TreeSet<>();
        roster.ranks().forEach((node, ranks) -> {
            if (!ranks.isEmpty()) {
                missing.add(node);
            }
        });
    }

    /** Admits a node, or returns its refusal. */
    public Optional<String> join(String name, Map<String, String> keys) {
        Optional<String> refusal = refusal(name, keys);
        if (refusal.isEmpty()) {
            missing.remove(name);
            joined.add(name);
        }
        return refusal;
    }

    /**
     * Returns the reason why a node may not join, in a sentence. After the barrier is complete, a node may have another
     * number of steps done, since it starts no rank from the beginning.
     */
    public Optional<String> refusal(String name, Map<String, String> keys) {
        if (!roster.ranks().containsKey(name)) {
            return Optional.of("node " + name + " was refused: the cluster's nodes are "
                    + String.join(", ", new TreeSet<>(roster.ranks().keySet()))
                    + "; start every node with the same configuration");
        }
        Map<String, String> all = new TreeMap<>(roster.keys());
        all.putAll(keys);
        if (isComplete() || !roster.keys().containsKey(Roster.STEPS_BEHIND)) {
            all.remove(Roster.STEPS_BEHIND);
        }
        for (String key : all.keySet()) {
            String ours = roster.keys().get(key);
            String its = keys.get(key);
            boolean isOfOtherEngine = key.startsWith(Roster.PRODUCTS) && (ours == null || its == null);
            if (!isOfOtherEngine && !Objects.equals(ours, its)) {
                return Optional.of("node " + name + " was refused: it has " + key + " = " + its
                        + ", but the cluster has " + ours + (key.equals(Roster.BLOCKS_AHEAD)
                                ? "; engines keep blocks in different sizes: set training.recompute-ahead to a number of"
                                        + " blocks in place of an amount of memory"
                                : "; start every node with the same version and the same configuration"));
            }
        }
        return joined.contains(name)
                ? Optional.of("node " + name + " was refused: a node of that name has joined already;"
                        + " two may not have one name")
                : Optional.empty();
    }

    /** Records a node's progress with its kernels; the last report counts. */
    public void warmUp(String name, WarmUpReport report) {
        warmUps.put(name, report);
    }

    /** Returns whether all nodes with ranks have joined and have run their kernels once. */
    public boolean isReady() {
        return isComplete() && ofRanks().allMatch(WarmUpReport::isOver);
    }

    /** Returns the reason why a node cannot run its kernels, with the node's name if there are several. */
    public Optional<String> refusal() {
        return warmUps.entrySet().stream().filter(node -> node.getValue().refusal().isPresent()).findFirst()
                .map(node -> (roster.ranks().size() == 1 ? "" : "node " + node.getKey() + ": ")
                        + node.getValue().refusal().get());
    }

    /** Returns the time of the slowest node's kernels. */
    public double warmUpSeconds() {
        return ofRanks().mapToDouble(WarmUpReport::seconds).max().orElse(0);
    }

    public long longestKernelNanos() {
        return warmUps.values().stream().mapToLong(WarmUpReport::longestKernelNanos).max().orElse(0);
    }

    /** A node without ranks has no kernels to run yet. */
    private Stream<WarmUpReport> ofRanks() {
        return roster.ranks().entrySet().stream().filter(node -> !node.getValue().isEmpty())
                .map(node -> warmUps.getOrDefault(node.getKey(), WarmUpReport.IN_PROGRESS));
    }

    /** Forgets a node that has left; it may join again. */
    public void leave(String name) {
        joined.remove(name);
        warmUps.remove(name);
    }

    public List<String> missing() {
        return List.copyOf(missing);
    }

    public List<String> joined() {
        return List.copyOf(joined);
    }

    public boolean isComplete() {
        return missing.isEmpty();
    }

    /** Restarts the time for joining, since the launcher sees that a node is still starting. */
    public void othersStart(long nowNanos) {
        sinceNanos = nowNanos;
    }

    /** Returns a sentence on the nodes that did not join in time; empty before that time. */
    public Optional<String> overdue(long nowNanos) {
        return isComplete() || nowNanos - sinceNanos <= roster.joinTimeout().toNanos()
                ? Optional.empty()
                : Optional.of((missing.size() == 1 ? "node " : "nodes ") + String.join(", ", missing)
                        + " did not join within " + roster.joinTimeout().toSeconds()
                        + " seconds (cluster.join-timeout): see that " + (missing.size() == 1 ? "it runs" : "they run")
                        + ", that hosts and control ports can be reached, and"
                        + " that all certificates, where cluster.tls is set, come from one authority");
    }
}
