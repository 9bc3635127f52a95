package dev.troupe.schedule.family;

import java.util.Set;
import java.util.stream.IntStream;

import dev.troupe.schedule.Placement;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.StageGraph;

/**
 * PipeDream: 1F1B that never drains, where each stage updates its weights behind the backward of each microbatch and waits
 * for no other stage. So a step is one microbatch. A microbatch goes forward and back on one version of a stage's weights;
 * the stage keeps each version until the last microbatch that has read it is back.
 *
 * <pre>
 * P = 3, weight stashing; F3@1 is microbatch 3 on the weights after one update
 * rank 0   F0@0 F1@0 F2@0 B0@0 U0 F3@1 B1@0 U1 F4@2 B2@0 U2 F5@3 B3@1 U3 ...
 * rank 1   F0@0 F1@0 B0@0 U0 F2@1 B1@0 U1 F3@2 B2@1 U2 F4@3 B3@2 U3 ...
 * rank 2   F0@0 B0@0 U0 F1@1 B1@1 U1 F2@2 B2@2 U2 F3@3 B3@3 U3 ...
 * </pre>
 *
 * <p>Under weight stashing a forward reads the newest weights of its stage. So the gradients of stage s are P-1-s updates
 * old: the stages of a microbatch have had different numbers of updates. Vertical sync gives every stage the version that
 * stage 0 had, P-1 updates old on all of them, at the price of P versions on each.
 *
 * <p>Source: Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, 2019, section 3.3.
 *
 * @param hasVerticalSync whether all stages read the same version for a microbatch
 */
public record PipeDream(boolean hasVerticalSync) implements OverlappingRule {
    /** The name of the schedule with weight stashing alone. */
    public static final String STASHING = "pipedream";
    /** The name of the schedule with vertical sync. */
    public static final String VERTICAL_SYNC = "pipedream-vertical-sync";

    @Override
    public String name() {
        return hasVerticalSync ? VERTICAL_SYNC : STASHING;
    }

    @Override
    public Plan plan(int pipeline, int microbatches, int steps) {
        return plan(pipeline, microbatches, steps, 0);
    }

    /** The versions of a plan that continues are counted from 1 at least, so that it is told from one that does not. */
    @Override
    public Plan continuing(int pipeline, int microbatches, int steps) {
        return plan(pipeline, microbatches, steps, Math.max(1, pipeline - 1));
    }

    private Plan plan(int pipeline, int microbatches, int steps, int firstVersion) {
        OverlappingRule.requireSizes(name(), pipeline, microbatches, steps);
        if (microbatches != 1) {
            throw new PlanException(
                    name() + " updates the weights behind each microbatch, so that a step has 1, but was asked"
                            + " for " + microbatches + " in a step: ask for 1 (in a run, training.microbatch-size ="
                            + " training.global-batch-size), or take " + PipeDream2Bw.NAME + ".");
        }
        return new Plan(name(), pipeline, pipeline, steps, steps, Placement.LOOP, IntStream.range(0, pipeline)
                .mapToObj(stage -> new OverlappingRow(stage, 1, steps, firstVersion, staleness(pipeline, stage), false)
                        .withWarmUp(pipeline - 1 - stage))
                .toList(), Set.of(), StageGraph.chain(pipeline), firstVersion, true);
    }

    private int staleness(int pipeline, int stage) {
        return hasVerticalSync ? pipeline - 1 : pipeline - 1 - stage;
    }

    /** The warm-up, then a round trip of a microbatch through the full pipeline. */
    @Override
    public int drawnSteps(int pipeline) {
        return Math.max(4, 3 * pipeline);
    }
}
