package dev.troupe.schedule.family;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.builder.Sizes;
import java.util.List;

/** A rule for the steps of a run that overlap: the pipeline does not drain between them. */
public sealed interface OverlappingRule permits PipeDream, PipeDream2Bw {
    /** Returns the name of the schedule in configurations and on the command line. */
    String name();

    /**
     * Makes the plan of some steps, from the first one of a run, with its computing and its updates alone.
     *
     * @param pipeline number of stages, P, each on a rank of its own or on several
     * @param microbatches microbatches of each step, M
     * @throws PlanException if the rule is not defined for these numbers; the message names some that would do
     */
    Plan plan(int pipeline, int microbatches, int steps);

    /**
     * Makes the plan of some steps that continue after others: at its beginning each stage has the versions of its weights
     * that its first steps read.
     *
     * @throws PlanException as {@link #plan}
     */
    Plan continuing(int pipeline, int microbatches, int steps);

    /** Returns the number of steps from which a drawing shows the pipeline full. */
    int drawnSteps(int pipeline);

    /**
     * Returns the rule of this name, which {@link Schedules#overlapsSteps} knows.
     *
     * @param updates the place of updates, if the rule has a choice
     * @param warmUpPerRank forwards of the warm-up for each rank that follows, if the rule has a choice
     * @param replicas the number of ranks of each stage; empty for one each
     * @throws PlanException if the rule has no stages on several ranks
     */
    static OverlappingRule named(String name, PipeDream2Bw.Updates updates, int warmUpPerRank, List<Integer> replicas) {
        if (name.equals(PipeDream2Bw.NAME) && !replicas.isEmpty()) {
            throw new PlanException(name + " has one rank for each stage, but was asked for replicas " + replicas
                    + ": take "
                    + PipeDream.STASHING + ", which allows stages on several ranks, or leave the replicas out.");
        }
        return switch (name) {
            case PipeDream2Bw.NAME -> new PipeDream2Bw(updates, warmUpPerRank);
            case PipeDream.STASHING -> new PipeDream(false, replicas);
            case PipeDream.VERTICAL_SYNC -> new PipeDream(true, replicas);
            default -> throw new IllegalArgumentException("the steps of " + name + " do not overlap");
        };
    }

    /** Refuses sizes that no plan can have. */
    static void requireSizes(String name, int pipeline, int microbatches, int steps) {
        Sizes.requirePositive(name, pipeline, 1, microbatches);
        if (steps < 1 || 2L * microbatches * steps + steps > Integer.MAX_VALUE) {
            throw new PlanException(
                    name + " needs 1 step or more and no more actions on a rank than a plan can hold, but was"
                            + " asked for " + steps + " steps of " + microbatches + " microbatches.");
        }
    }
}
