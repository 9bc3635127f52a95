package dev.troupe.membership;

import dev.troupe.machine.NodeReport;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What the nodes say of a run whose coordinator was lost, until it is enough to go on. One thread. */
public final class RecoveryQuorum {
    private final long patienceNanos;
    private final Map<String, NodeReport> told = new TreeMap<>();
    private long sinceNanos;

    /**
     * @param patienceNanos
     *            how long it waits after the first for the others that are there
     */
    public RecoveryQuorum(long patienceNanos) {
        this.patienceNanos = patienceNanos;
    }

    /** A node says what it knows; only what it says first counts, since nothing happens meanwhile. */
    public void hear(String node, NodeReport report, long nowNanos) {
        if (told.isEmpty()) {
            sinceNanos = nowNanos;
        }
        told.putIfAbsent(node, report);
    }

    /** A node is gone, and what it said does not count. */
    public void leave(String node) {
        told.remove(node);
    }

    /** Whether a run is under way at all. */
    public boolean isUnderWay() {
        return !told.isEmpty();
    }

    /**
     * Whether all have spoken that are there, or have had their time.
     *
     * @param present
     *            the nodes that there are
     * @param joined
     *            those that have joined this coordinator, with something to say or without
     */
    public boolean isEnough(Set<String> present, Set<String> joined, long nowNanos) {
        return isUnderWay() && (joined.containsAll(present) || nowNanos - sinceNanos > patienceNanos);
    }

    /** What they said. */
    public Map<String, NodeReport> told() {
        return Map.copyOf(told);
    }
}
