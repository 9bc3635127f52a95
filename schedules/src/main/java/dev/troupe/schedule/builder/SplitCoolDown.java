package dev.troupe.schedule.builder;

import dev.troupe.schedule.Backwards;
import dev.troupe.schedule.Plan;

/**
 * Another schedule whose gradients leave early in the cool-down; see {@link Backwards#splitCoolDown}.
 *
 * @param whole the other schedule, whose name this one has
 */
public record SplitCoolDown(Schedule whole) implements Schedule {
    @Override
    public String name() {
        return whole.name();
    }

    @Override
    public int usualVirtualStages() {
        return whole.usualVirtualStages();
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        return Backwards.splitCoolDown(whole.plan(pipeline, virtualStages, microbatches));
    }
}
