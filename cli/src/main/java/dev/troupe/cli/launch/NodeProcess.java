package dev.troupe.cli.launch;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.cluster.NodeSpec;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A node of this machine as a process. What it tells of an end is true once it has ended.
 *
 * @param hasComplained
 *            whether it has said why it ends
 * @param rejoined
 *            whether it came in place of a process that was lost
 * @param startNanos
 *            when it started
 */
record NodeProcess(NodeSpec spec, ChildProcess process, AtomicBoolean hasComplained, boolean rejoined,
        long startNanos) {
    private static final Set<Integer> OWN_EXIT_CODES = Set.of(ExitCode.DONE, ExitCode.RUN_FAILED,
            ExitCode.WRONG_REQUEST, ExitCode.STOPPED);

    String name() {
        return spec.name();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** It ended with the run. */
    boolean isDone() {
        return endedWith(ExitCode.DONE);
    }

    /** It ended with the run, which was stopped before its end. */
    boolean isStopped() {
        return endedWith(ExitCode.STOPPED);
    }

    /** It ended with the run, at its end or before. */
    boolean isOver() {
        return isDone() || isStopped();
    }

    /** What it was started with was wrong. */
    boolean isRefused() {
        return endedWith(ExitCode.WRONG_REQUEST);
    }

    private boolean endedWith(int exitCode) {
        return !process.isAlive() && process.exitCode() == exitCode;
    }

    /** It ended, and not with the run. */
    boolean hasFailed() {
        return !process.isAlive() && !isOver();
    }

    /** It did not end itself: somebody killed it, or it broke down. */
    boolean isLost() {
        return !process.isAlive() && !OWN_EXIT_CODES.contains(process.exitCode());
    }
}
