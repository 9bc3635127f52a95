package dev.troupe.schedule;

/** A rule for the order of actions on each rank. It may be defined for some numbers of ranks and microbatches only. */
public interface Schedule {

    /** Returns the name of the schedule in configurations and on the command line. */
    String name();

    /** Returns the number of stages on each rank, V, for which the schedule is designed. */
    default int usualVirtualStages() {
        return 1;
    }

    /**
     * Makes the plan of one step with computing alone, which lowering completes. If steps overlap, the plan has all steps of
     * a pass.
     *
     * @param pipeline number of ranks in the pipeline, P
     * @param virtualStages stages on each rank, V
     * @param microbatches microbatches in the step, M; fewer than P is allowed
     * @throws dev.troupe.schedule.PlanException if the schedule is not defined for these numbers; the message suggests
     *     others
     */
    Plan plan(int pipeline, int virtualStages, int microbatches);

    /**
     * Returns the rows of the plan, for sizes at which the plan would not fit into memory. By default the plan is made; a
     * schedule that can compute each action from its place overrides this.
     */
    default PlanRows rows(int pipeline, int virtualStages, int microbatches) {
        return plan(pipeline, virtualStages, microbatches);
    }
}
