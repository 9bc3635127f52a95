package dev.troupe.schedule.builder;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanRows;

/** A rule for the order of the actions of each rank, for all numbers of ranks and microbatches for which it is defined. */
public interface Schedule {

    /** Returns the name of the schedule in configurations and on the command line. */
    String name();

    /** Returns the number of stages on each rank, V, for which the schedule is made. */
    default int usualVirtualStages() {
        return 1;
    }

    /**
     * Makes the plan of one step with its computing alone; lowering adds the rest. If steps overlap it is the plan of all
     * steps of a pass.
     *
     * @param pipeline number of ranks in the pipeline, P
     * @param virtualStages stages on each rank, V
     * @param microbatches microbatches in the step, M; fewer than P is allowed
     * @throws dev.troupe.schedule.PlanException if the schedule is not defined for these numbers; the message names some
     *     that would do
     */
    Plan plan(int pipeline, int virtualStages, int microbatches);

    /**
     * Returns the rows of the plan, for sizes at which the plan would not fit into memory. A schedule that can work out any
     * action from its place does so here; all others make the plan.
     */
    default PlanRows rows(int pipeline, int virtualStages, int microbatches) {
        return plan(pipeline, virtualStages, microbatches);
    }
}
