package dev.troupe.config.spec;

import dev.troupe.config.group.ParallelLayout;
import java.util.List;
import java.util.Objects;

/**
 * The division of the work over ranks.
 *
 * @param pipeline P, ranks in a pipeline, at least 1
 * @param tensor T, ranks that share a stage, at least 1
 * @param data D, pipelines side by side, at least 1
 * @param sequence whether norms, residuals and dropout, which tensor-parallel layers do not divide, are divided by
 *     slices of the sequence; only with tensor above 1
 * @param virtualStages V, stages per rank, at least 1
 * @param schedule name of a schedule, as the schedules know it
 * @param layout how layers become stages: {@code uniform}, {@code parameters} or a layout string such as
 *     {@code Et|(tt|)*2tL}
 * @param splitCoolDown whether a rank's backwards after its last forward send their gradients before they compute the
 *     gradients of the weights
 * @param overlap how steps overlap, where the schedule overlaps them
 * @param replicas the number of ranks of each stage, which take its microbatches in turns; empty for one each
 */
public record ParallelSpec(int pipeline, int tensor, int data, boolean sequence, int virtualStages, String schedule,
        String layout, boolean splitCoolDown, OverlapSpec overlap, List<Integer> replicas) {

    /** Refuses a missing part. */
    public ParallelSpec {
        Objects.requireNonNull(schedule, "schedule");
        Objects.requireNonNull(layout, "layout");
        Objects.requireNonNull(overlap, "overlap");
        replicas = List.copyOf(replicas);
    }

    /** Creates the division of a run that has each stage on one rank. */
    public ParallelSpec(int pipeline, int tensor, int data, boolean sequence, int virtualStages, String schedule,
            String layout, boolean splitCoolDown, OverlapSpec overlap) {
        this(pipeline, tensor, data, sequence, virtualStages, schedule, layout, splitCoolDown, overlap, List.of());
    }

    /** Creates the division of a run that says nothing of overlapping steps. */
    public ParallelSpec(int pipeline, int tensor, int data, boolean sequence, int virtualStages, String schedule,
            String layout, boolean splitCoolDown) {
        this(pipeline, tensor, data, sequence, virtualStages, schedule, layout, splitCoolDown, OverlapSpec.USUAL);
    }

    /** Returns the layout: the coordinates and the groups of each rank. */
    public ParallelLayout ranks() {
        return replicas.isEmpty()
                ? new ParallelLayout(pipeline, data, tensor)
                : new ParallelLayout(pipeline, 1, tensor, replicas);
    }

    /** Returns the world size: P x D x T, or the replicas of all stages. */
    public int worldSize() {
        return ranks().worldSize();
    }

    /** Returns the number of stages of a pipeline: P x V. */
    public int stageCount() {
        return Math.multiplyExact(pipeline, virtualStages);
    }
}
