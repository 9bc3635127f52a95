package dev.troupe.cli.launch;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.cluster.NodeSpec;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A node of this machine as a process. The methods on its end are true only once it has ended.
 *
 * @param hasComplained
 *            whether the process has printed why it ends
 * @param rejoined
 *            whether the process was started in place of a lost one
 * @param startNanos
 *            the start of the process
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

    /** Whether the process ended with the run. */
    boolean isDone() {
        return endedWith(ExitCode.DONE);
    }

    /** Whether the process ended with a run that was stopped before its end. */
    boolean isStopped() {
        return endedWith(ExitCode.STOPPED);
    }

    /** Whether the process ended with the run, at its end or before. */
    boolean isOver() {
        return isDone() || isStopped();
    }

    /** Whether the request of the process was wrong. */
    boolean isRefused() {
        return endedWith(ExitCode.WRONG_REQUEST);
    }

    private boolean endedWith(int exitCode) {
        return !process.isAlive() && process.exitCode() == exitCode;
    }

    /** Whether the process ended, and not with the run. */
    boolean hasFailed() {
        return !process.isAlive() && !isOver();
    }

    /** Whether the process was killed or crashed. */
    boolean isLost() {
        return !process.isAlive() && !OWN_EXIT_CODES.contains(process.exitCode());
    }
}
