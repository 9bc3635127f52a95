package dev.troupe.protocol.membership;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.NodeReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The reports of nodes on a run that has lost its coordinator, and the check that they suffice to continue. One thread. */
public final class RecoveryQuorum {
    /** The number of waits after which a run ends, or continues from an older commit than the newest known. */
    private static final int PATIENCES_TO_GO_BACK = 3;

    private final long patienceNanos;
    private final Map<String, NodeReport> reports = new TreeMap<>();
    private long sinceNanos;

    /**
     * @param patienceNanos longest wait after the first report for the other nodes' reports
     */
    public RecoveryQuorum(long patienceNanos) {
        this.patienceNanos = patienceNanos;
    }

    /**
     * Records the report of a node. Only a node's first report counts: after it, the node's ranks finish at most the update
     * that the lost coordinator ordered.
     */
    public void add(String node, NodeReport report, long nowNanos) {
        if (reports.isEmpty()) {
            sinceNanos = nowNanos;
        }
        reports.putIfAbsent(node, report);
    }

    /** Forgets a lost node and its report. */
    public void leave(String node) {
        reports.remove(node);
    }

    /** Returns whether a report is about a run that has begun. */
    public boolean isInProgress() {
        return !reports.isEmpty();
    }

    /**
     * Returns whether all present nodes have reported, or the wait for them is over.
     *
     * @param present the nodes of the cluster now
     * @param joined the nodes that have joined this coordinator, with a report or without
     */
    public boolean isEnough(Set<String> present, Set<String> joined, long nowNanos) {
        return isInProgress() && (joined.containsAll(present) || nowNanos - sinceNanos > patienceNanos);
    }

    /**
     * Returns whether the coordinator may take over from a commit, or end the run if there is none. It may at once from the
     * newest commit in any report. Otherwise it waits for the reports of all present nodes, at most three times the
     * patience. The reason: the next update overwrites the snapshots of older commits, even after a node has reported them.
     * But that update waits until the snapshots of the newest commit are copied. So if all present nodes have reported and
     * none has a rank's snapshot of the newest commit, no update is in progress.
     *
     * @param from the commit from which the run can continue; empty if there is none
     */
    public boolean mayDecide(Optional<Commit> from, Set<String> present, Set<String> joined, long nowNanos) {
        return from.filter(commit -> reports.values().stream().flatMap(report -> report.commits().stream())
                .allMatch(other -> other.stepsDone() <= commit.stepsDone())).isPresent() || joined.containsAll(present)
                || nowNanos - sinceNanos > PATIENCES_TO_GO_BACK * patienceNanos;
    }

    /**
     * Returns by node and rank the commits, as steps done, with states that count as copies if the run continues from {@code
     * from}. States of older commits count only if all present nodes have reported. Otherwise the update that overwrites
     * them may be in progress, and the copies for which it waited may be on a node that has not reported.
     *
     * @param from the steps done of the commit
     */
    public Map<String, Map<Integer, List<Long>>> versions(long from, Set<String> present, Set<String> joined) {
        long oldest = joined.containsAll(present) ? 0 : from;
        Map<String, Map<Integer, List<Long>>> versions = new TreeMap<>();
        reports.forEach((node, report) -> versions.put(node, report.versionsSince(oldest)));
        return versions;
    }

    public Map<String, NodeReport> reports() {
        return FixedOrder.copyOf(reports);
    }
}
