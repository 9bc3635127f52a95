package dev.troupe.schedule.simulator;

import dev.troupe.schedule.PlanRows;
import java.util.Arrays;

/** The sums of gradients over the replicas of a stage, by round; a stage on one rank has none. */
final class RoundSums {
    private final int[][] left;
    private final long[][] nanos;

    RoundSums(PlanRows rows) {
        this.left = new int[rows.stageCount()][0];
        this.nanos = new long[rows.stageCount()][0];
        for (int stage = 0; stage < left.length; stage++) {
            int replicas = rows.replicas(stage);
            if (replicas > 1) {
                left[stage] = new int[Math.ceilDiv(rows.stepCount(), replicas)];
                nanos[stage] = new long[left[stage].length];
                // All steps have the same number of microbatches.
                Arrays.fill(left[stage], replicas * (rows.microbatchCount() / rows.stepCount()));
            }
        }
    }

    /** Adds the gradient of a replica; returns whether it was the last of the round. */
    boolean add(int stage, int round, long endNanos) {
        nanos[stage][round] = Math.max(nanos[stage][round], endNanos);
        return --left[stage][round] == 0;
    }

    boolean isComplete(int stage, int round) {
        return left[stage][round] == 0;
    }

    /** Returns the end of the last gradient of a round. */
    long nanos(int stage, int round) {
        return nanos[stage][round];
    }
}
