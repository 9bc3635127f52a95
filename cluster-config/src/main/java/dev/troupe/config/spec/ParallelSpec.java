package dev.troupe.config.spec;

import dev.troupe.config.group.ParallelLayout;
import java.util.Objects;

/**
 * How the work is shared out.
 *
 * @param pipeline
 *            P, ranks in a pipeline, at least 1
 * @param tensor
 *            T, ranks that share a stage, at least 1
 * @param data
 *            D, pipelines side by side, at least 1
 * @param sequence
 *            whether what the tensor-parallel layers do not share out (norms, residuals, dropout) is shared out by
 *            slices of the sequence; only with tensor above 1
 * @param virtualStages
 *            V, stages per rank, at least 1
 * @param schedule
 *            name of a schedule, as the schedules know it
 * @param layout
 *            how layers become stages: {@code uniform}, {@code parameters} or a layout string such as {@code
 *            Et|(tt|)*2tL}
 * @param splitCoolDown
 *            whether a rank's backwards behind its last forward send their gradients before they compute those of the
 *            weights
 */
public record ParallelSpec(int pipeline, int tensor, int data, boolean sequence, int virtualStages, String schedule,
        String layout, boolean splitCoolDown) {

    /** Refuses a missing part. */
    public ParallelSpec {
        Objects.requireNonNull(schedule, "schedule");
        Objects.requireNonNull(layout, "layout");
    }

    /** Returns where each rank stands, and the groups it is in. */
    public ParallelLayout ranks() {
        return new ParallelLayout(pipeline, data, tensor);
    }

    /** Returns how many ranks there are: P x D x T. */
    public int worldSize() {
        return ranks().worldSize();
    }

    /** Returns how many stages a pipeline has: P x V. */
    public int stageCount() {
        return Math.multiplyExact(pipeline, virtualStages);
    }
}
