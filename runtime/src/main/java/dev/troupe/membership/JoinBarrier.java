package dev.troupe.membership;

import dev.troupe.machine.WarmUpReport;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Which nodes of a run have come, and whether they may take part.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds of one monotonic clock.
 */
public final class JoinBarrier {
    private final Roster roster;
    private final long sinceNanos;
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

    /**
     * Takes a node in, or says in a sentence why not. One that comes when all are there starts no rank from the
     * beginning, so what lies behind it may be another number of steps.
     */
    public Optional<String> join(String name, Map<String, String> keys) {
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
            if (!Objects.equals(ours, its)) {
                return Optional.of("node " + name + " was refused: it has " + key + " = " + its
                        + ", but the cluster has " + ours
                        + "; start every node with the same version and the same configuration");
            }
        }
        missing.remove(name);
        return joined.add(name)
                ? Optional.empty()
                : Optional.of("node " + name + " was refused: a node of that name has joined already;"
                        + " two may not have one name");
    }

    /** A node says how far it is with running its kernels once; the last word counts. */
    public void warmUp(String name, WarmUpReport report) {
        warmUps.put(name, report);
    }

    /** Whether all are there that have ranks, and have run their kernels once. */
    public boolean isReady() {
        return isComplete() && ofRanks().allMatch(WarmUpReport::isOver);
    }

    /** What a node cannot run, with its name where there are several. */
    public Optional<String> refusal() {
        return warmUps.entrySet().stream().filter(node -> node.getValue().refusal().isPresent()).findFirst()
                .map(node -> (roster.ranks().size() == 1 ? "" : "node " + node.getKey() + ": ")
                        + node.getValue().refusal().get());
    }

    /** How long the slowest node took to run its kernels once. */
    public double warmUpSeconds() {
        return ofRanks().mapToDouble(WarmUpReport::seconds).max().orElse(0);
    }

    /** How long the longest kernel took anywhere. */
    public long longestKernelNanos() {
        return warmUps.values().stream().mapToLong(WarmUpReport::longestKernelNanos).max().orElse(0);
    }

    /** A node that has no ranks has no kernels to run before it gets some. */
    private Stream<WarmUpReport> ofRanks() {
        return roster.ranks().entrySet().stream().filter(node -> !node.getValue().isEmpty())
                .map(node -> warmUps.getOrDefault(node.getKey(), WarmUpReport.UNDER_WAY));
    }

    /** A node has gone; it may come again. */
    public void leave(String name) {
        joined.remove(name);
        warmUps.remove(name);
    }

    /** The nodes that have not come, by name. */
    public List<String> missing() {
        return List.copyOf(missing);
    }

    /** The nodes that have come, by name. */
    public List<String> joined() {
        return List.copyOf(joined);
    }

    /** Whether all are there that have ranks. */
    public boolean isComplete() {
        return missing.isEmpty();
    }

    /** Who did not come in time, in a sentence; empty while there is time left. */
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
