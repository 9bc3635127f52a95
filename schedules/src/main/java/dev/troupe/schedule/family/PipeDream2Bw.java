package dev.troupe.schedule.family;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.StageGraph;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * PipeDream-2BW: 1F1B without drains. The forwards of the next step begin before the update of this one, so that no rank is
 * idle between steps. In exchange the gradients of step t use the weights before the last update, W(t-1), on all stages, and
 * each stage keeps two versions of its weights.
 *
 * <pre>
 * P = 2, M = 2, three steps; F4@1 is microbatch 4, the first of step 2, on the weights after one update
 * rank 0   F0@0 F1@0 B0@0 F2@0 B1@0 F3@0 B2@0 U0 F4@1 B3@0 F5@1 B4@1 B5@1 U1 U2
 * rank 1   F0@0 B0@0 F1@0 B1@0 F2@0 B2@0 F3@0 B3@0 U0 F4@1 B4@1 F5@1 B5@1 U1 U2
 * </pre>
 *
 * <p>The warm-up of a row has one or two forwards for each later rank; then forwards and backwards alternate through all
 * steps. An update waits for the gradients of its step on every rank: clipping needs the global norm, and tied weights need
 * the sum of both ends. So the place of the update in the row determines the bubble, see {@link Updates}.
 *
 * <p>M must be at least the warm-up of rank 0. With fewer microbatches a rank would begin step t+2 before the gradients of
 * step t are back, which update the weights that it reads.
 *
 * <p>Source: Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, 2021, section 3. There an update waits for
 * no other rank, and gradients are not clipped.
 *
 * @param warmUpPerRank forwards of the warm-up for each later rank: 1, or 2 to hide the time of messages and of the norm, at
 *     the cost of more activations
 */
public record PipeDream2Bw(Updates updates, int warmUpPerRank) implements OverlappingRule {
    /** The name of the schedule on the command line. */
    public static final String NAME = "pipedream-2bw";
    private static final int STALENESS = 1;
    /** The first four steps show the block that repeats. */
    private static final int DRAWN_STEPS = 4;

    /** The place of the update of a step in a row. */
    public enum Updates {
        /**
         * Right before the first forward that reads the new weights. By then the gradients of the other ranks have usually
         * arrived, so that no rank waits. Two sums of gradients are held, since the next step's have begun.
         */
        LAZY,
        /** Right after the last backward of the step: one sum of gradients is held, and the ranks wait for the slowest. */
        EAGER
    }

    public PipeDream2Bw {
        if (warmUpPerRank < 1 || warmUpPerRank > 2) {
            throw new PlanException(
                    NAME + " warms up with 1 or 2 forwards for each rank that follows, but was asked for "
                            + warmUpPerRank + ": more would only hold more activations.");
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Plan plan(int pipeline, int microbatches, int steps) {
        return plan(pipeline, microbatches, steps, 0);
    }

    /** Each stage has versions 0 and 1 of its weights at the beginning, and step t reads version t. */
    @Override
    public Plan continuing(int pipeline, int microbatches, int steps) {
        return plan(pipeline, microbatches, steps, 1);
    }

    @Override
    public int drawnSteps(int pipeline) {
        return DRAWN_STEPS;
    }

    private Plan plan(int pipeline, int microbatches, int steps, int firstVersion) {
        OverlappingRule.requireSizes(NAME, pipeline, microbatches, steps);
        int warmUp = warmUpPerRank * (pipeline - 1);
        if (microbatches < warmUp) {
            throw new PlanException(NAME + " on " + pipeline + " ranks needs " + warmUp
                    + " microbatches or more in a step, but was asked for " + microbatches
                    + ": rank 0 would begin step 2 before the gradients of step 0 are back, and the weights of step 2 are those"
                    + " that they update; take " + warmUp + " microbatches or more, or fewer ranks.");
        }
        return planOf(pipeline, microbatches, steps, firstVersion);
    }

    /** Makes the plan without a check of M. */
    Plan planOf(int pipeline, int microbatches, int steps, int firstVersion) {
        List<List<Action>> rows = new ArrayList<>();
        for (int stage = 0; stage < pipeline; stage++) {
            rows.add(new OverlappingRow(stage, microbatches, steps, firstVersion, STALENESS, updates == Updates.LAZY)
                    .withWarmUp(warmUpPerRank * (pipeline - 1 - stage)));
        }
        return new Plan(NAME, pipeline, pipeline, microbatches * steps, steps, Laps.LOOP, rows, Set.of(),
                StageGraph.chain(pipeline), firstVersion, false);
    }
}
