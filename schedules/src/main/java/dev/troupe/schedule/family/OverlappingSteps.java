package dev.troupe.schedule.family;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Sizes;

/**
 * The schedule of one pass with overlapping steps, from one flush of the pipeline to the next.
 * @param rule the places of forwards and updates
 */
public record OverlappingSteps(OverlappingRule rule, int steps) implements Schedule {
    @Override
    public String name() {
        return rule.name();
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Sizes.requireOneStageARank(name(), virtualStages);
        return rule.continuing(pipeline, microbatches, steps);
    }
}
