package dev.troupe.protocol.supervisor;

import java.util.concurrent.TimeUnit;

/** The progress of a run by the answers of its nodes: the committed steps, and the time that a step can take. */
final class RunProgress {
    /** Nodes are notified of a failure by the coordinator, or notice its loss, within this time. */
    private static final long LEAST_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int STEPS_OF_PATIENCE = 3;
    private static final long LONGEST_STEP_NANOS = TimeUnit.SECONDS.toNanos(600);

    private long stepsDone = -1;
    private long advances;
    private long lastAdvanceNanos;
    private long longestStepNanos;

    /** Notes an answer. Answers may come out of order, and a node may know of fewer steps than another. */
    void hear(long steps, long nowNanos) {
        if (steps <= stepsDone) {
            return;
        }
        // The time before the first step that is seen is no step: the nodes start, or the answer is the first one.
        if (advances >= 2) {
            longestStepNanos = Math.max(longestStepNanos, (nowNanos - lastAdvanceNanos) / (steps - stepsDone));
        }
        advances++;
        lastAdvanceNanos = nowNanos;
        stepsDone = steps;
    }

    /** Returns the most committed steps of any answer; -1 before the first. */
    long stepsDone() {
        return stepsDone;
    }

    /** Returns the longest time in which a run that continues shows no new step: longer than some of its steps. */
    long patienceNanos() {
        return LEAST_PATIENCE_NANOS + STEPS_OF_PATIENCE * Math.min(longestStepNanos, LONGEST_STEP_NANOS);
    }
}
