package dev.troupe.protocol.supervisor;

import java.util.concurrent.TimeUnit;

/** The progress of a run by its nodes' answers: the committed steps, and the time that a step may take. */
final class RunProgress {
    /** The time within which nodes learn of a failure from the coordinator, or notice the coordinator's loss. */
    private static final long LEAST_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int STEPS_OF_PATIENCE = 3;
    private static final long LONGEST_STEP_NANOS = TimeUnit.SECONDS.toNanos(600);

    private long stepsDone = -1;
    private long advances;
    private long lastAdvanceNanos;
    private long longestStepNanos;

    /** Records an answer. Answers may be out of order, and a node may know fewer steps than another. */
    void add(long steps, long nowNanos) {
        if (steps <= stepsDone) {
            return;
        }
        // The time before the first observed step is not the time of a step.
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

    /**
     * Returns the time without a new step after which the run is assumed not to continue: several times its longest step.
     */
    long patienceNanos() {
        return LEAST_PATIENCE_NANOS + STEPS_OF_PATIENCE * Math.min(longestStepNanos, LONGEST_STEP_NANOS);
    }
}
