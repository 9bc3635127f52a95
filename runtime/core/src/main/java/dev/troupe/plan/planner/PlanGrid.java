package dev.troupe.plan.planner;

import java.util.Map;

/**
 * The division of a step over ranks.
 *
 * @param pipeline P, ranks in a pipeline
 * @param tensor T, ranks that share a stage
 * @param data D, parallel pipelines
 * @param microbatchSize sequences of a microbatch
 * @param microbatches M, microbatches of a pipeline in a step
 */
public record PlanGrid(int pipeline, int tensor, int data, int microbatchSize, int microbatches) {
    /** Returns the number of its ranks. */
    public int ranks() {
        return pipeline * tensor * data;
    }

    /** Returns the configuration keys of this division, with their values. */
    Map<String, Object> settings() {
        return Map.of("parallel.pipeline", pipeline, "parallel.tensor", tensor, "parallel.data", data,
                "training.microbatch-size", microbatchSize);
    }

    /** Such as {@code P=4 T=1 D=2 b=1 M=8}. */
    @Override
    public String toString() {
        return "P=" + pipeline + " T=" + tensor + " D=" + data + " b=" + microbatchSize + " M=" + microbatches;
    }
}
