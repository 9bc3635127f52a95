package dev.troupe.protocol.membership;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.NodeReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The reports of the nodes on a run with a lost coordinator, until there are enough to continue it. One thread. */
public final class RecoveryQuorum {
    /** The number of waits before a run ends, or continues from a commit older than one that a node knows. */
    private static final int PATIENCES_TO_GO_BACK = 3;

    private final long patienceNanos;
    private final Map<String, NodeReport> told = new TreeMap<>();
    private long sinceNanos;

    /**
     * @param patienceNanos longest wait after the first report for the other nodes' reports
     */
    public RecoveryQuorum(long patienceNanos) {
        this.patienceNanos = patienceNanos;
    }

    /**
     * Takes the report of a node. Only the first report of a node counts: after it its ranks finish at most the update that
     * the lost coordinator ordered.
     */
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

    /** Returns whether a report is about a run that has begun. */
    public boolean isUnderWay() {
        return !told.isEmpty();
    }

    /**
     * Returns whether all present nodes have reported, or have had their time.
     *
     * @param present the nodes of the cluster now
     * @param joined the nodes that have joined this coordinator, with a report or without
     */
    public boolean isEnough(Set<String> present, Set<String> joined, long nowNanos) {
        return isUnderWay() && (joined.containsAll(present) || nowNanos - sinceNanos > patienceNanos);
    }

    /**
     * Returns whether the coordinator may take over from a commit, or end the run if there is no such commit. From the
     * newest commit that a node reports it may. Otherwise it waits for the reports of all present nodes, for three times the
     * patience at most: the next update overwrites the snapshots of older commits, also after a node has reported them. That
     * update waits until the snapshots of the newest commit are copied. So no update is in progress if all present nodes
     * have reported, and none of them has a rank's snapshot of the newest commit.
     *
     * @param from the commit from which the run can continue; empty if there is none
     */
    public boolean mayDecide(Optional<Commit> from, Set<String> present, Set<String> joined, long nowNanos) {
        return from.filter(commit -> told.values().stream().flatMap(report -> report.commits().stream())
                .allMatch(other -> other.stepsDone() <= commit.stepsDone())).isPresent() || joined.containsAll(present)
                || nowNanos - sinceNanos > PATIENCES_TO_GO_BACK * patienceNanos;
    }

    /**
     * Returns by node and rank the states that count as copies if the run continues from a commit, as their steps. Older
     * states than the commit count only if all present nodes have reported: otherwise the update that overwrites them may be
     * in progress, and the copies for which it waited may be on a node that has not reported.
     *
     * @param from the steps of the commit
     */
    public Map<String, Map<Integer, List<Long>>> versions(long from, Set<String> present, Set<String> joined) {
        long oldest = joined.containsAll(present) ? 0 : from;
        Map<String, Map<Integer, List<Long>>> versions = new TreeMap<>();
        told.forEach((node, report) -> versions.put(node, report.versionsSince(oldest)));
        return versions;
    }

    public Map<String, NodeReport> told() {
        return FixedOrder.copyOf(told);
    }
}
