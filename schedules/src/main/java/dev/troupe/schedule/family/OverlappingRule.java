package dev.troupe.schedule.family;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.builder.Sizes;
import java.util.List;

/** A rule for steps that overlap: the pipeline does not drain between them. */
public sealed interface OverlappingRule permits PipeDream, PipeDream2Bw {
    /** Returns the name of the schedule in configurations and on the command line. */
    String name();

    /**
     * Makes the plan of the first steps of a run, with computing and updates alone.
     *
     * @param pipeline number of stages, P, each on one rank or several
     * @param microbatches microbatches of each step, M
     * @throws PlanException if the rule is not defined for these numbers; the message suggests others
     */
    Plan plan(int pipeline, int microbatches, int steps);

    /**
     * Makes the plan of steps that follow others. At its beginning each stage has all versions of its weights that its first
     * steps read.
     *
     * @throws PlanException as {@link #plan}
     */
    Plan continuing(int pipeline, int microbatches, int steps);

    /** Returns the number of steps after which a drawing shows the full pipeline. */
    int drawnSteps(int pipeline);

    /**
     * Returns the rule of this name, one for which {@link Schedules#overlapsSteps} is true.
     *
     * @param updates the place of updates, if the rule has a choice
     * @param warmUpPerRank forwards of the warm-up for each later rank, if the rule has a choice
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
