package dev.troupe.protocol.membership;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.NodeReport;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The reports of the nodes on a run whose coordinator was lost, until there are enough to continue it. One thread. */
public final class RecoveryQuorum {
    private final long patienceNanos;
    private final Map<String, NodeReport> told = new TreeMap<>();
    private long sinceNanos;

    /**
     * @param patienceNanos
     *            longest wait after the first report for those of the other nodes
     */
    public RecoveryQuorum(long patienceNanos) {
        this.patienceNanos = patienceNanos;
    }

    /** Takes the report of a node; only the first report of a node counts, since the run makes no progress meanwhile. */
    public void hear(String node, NodeReport report, long nowNanos) {
        if (told.isEmpty()) {
            sinceNanos = nowNanos;
        }
        told.putIfAbsent(node, report);
    }

    /** Forgets a lost node and its report. */
    public void leave(String node) {
        told.remove(node);
    }

    /** Whether a report tells of a run that has begun. */
    public boolean isUnderWay() {
        return !told.isEmpty();
    }

    /**
     * Whether all present nodes have reported, or have had their time.
     *
     * @param present
     *            the nodes of the cluster now
     * @param joined
     *            the nodes that have joined this coordinator, with a report or without
     */
    public boolean isEnough(Set<String> present, Set<String> joined, long nowNanos) {
        return isUnderWay() && (joined.containsAll(present) || nowNanos - sinceNanos > patienceNanos);
    }

    /** Returns the reports. */
    public Map<String, NodeReport> told() {
        return FixedOrder.copyOf(told);
    }
}
