package dev.troupe.plan.planner;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.simulator.StageCost;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A time below which the step of a candidate cannot be, from the costs of its layers alone. A rank begins after the first
 * forward has passed all stages before its first one, and then has all its work to do; after its last backward the
 * gradient passes the same stages again, while the backward for the weights may follow if it is split. Messages are taken
 * as free.
 *
 * <p>Source: for equal stages without a split this is (M + P - 1)(F + B), as in Narayanan et al. 2021, section 2.2.
 */
final class StepBound {
    /** Sizes at which every schedule is defined. */
    private static final int SAMPLE_RANKS = 2;
    private static final int SAMPLE_MICROBATCHES = 4;

    private final StepCosts costs;
    private final boolean splitsCoolDown;
    private final Map<String, Rule> rules = new HashMap<>();

    /** The placement of a schedule, and whether it splits backwards. */
    private record Rule(Laps placement, boolean splits) {
    }

    /** @param splitsCoolDown whether {@code parallel.split-cool-down} is set */
    StepBound(StepCosts costs, boolean splitsCoolDown) {
        this.costs = costs;
        this.splitsCoolDown = splitsCoolDown;
    }

    private Rule rule(String schedule, int virtualStages) {
        return rules.computeIfAbsent(schedule + " " + virtualStages, _ -> {
            if (Schedules.overlapsSteps(schedule)) {
                return new Rule(Laps.LOOP, true);
            }
            try {
                Plan sample = Schedules.named(schedule).plan(SAMPLE_RANKS, virtualStages, SAMPLE_MICROBATCHES);
                boolean splits = splitsCoolDown || sample.rows().stream().flatMap(List::stream)
                        .anyMatch(action -> action.kind() == Kind.BACKWARD_WEIGHT);
                return new Rule((Laps) sample.placement(), splits);
            } catch (PlanException _) {
                return new Rule(Laps.LOOP, true);
            }
        });
    }

    /** Returns the least time of a step in nanoseconds. */
    long nanos(PlanChoice choice, Cut cut) {
        int ranks = choice.grid().pipeline();
        Rule rule = rule(choice.schedule(), choice.virtualStages());
        List<StageCost> stages = costs.least(choice, cut,
                stage -> rule.placement().rankOf(stage, 0, ranks));
        Walk walk = new Walk(ranks, choice.grid().microbatches());
        for (int stage = 0; stage < stages.size(); stage++) {
            walk.pass(rule.placement().rankOf(stage, 0, ranks), stages.get(stage), rule.splits());
        }
        return walk.longest(rule.splits(), Schedules.overlapsSteps(choice.schedule()));
    }

    /** Returns a time below which no candidate of a grid can be: the work of all layers, divided equally. */
    static long nanos(PlanGrid grid, List<StageCost> layers) {
        long work = layers.stream().mapToLong(layer -> layer.forwardNanos() + Math.min(layer.fullBackwardNanos(),
                layer.backwardInputNanos() + layer.backwardWeightNanos())).sum();
        return work / grid.pipeline() * grid.microbatches(); // rounded down
    }

    /** The sums along a pipeline. */
    private static final class Walk {
        private final long microbatches;
        private final long[] begin;
        private final long[] back;
        private final long[] untilGradient;
        private final long[] weights;
        private final long[] once;
        private long there;
        private long wayBack;

        Walk(int ranks, int microbatches) {
            this.microbatches = microbatches;
            this.begin = new long[ranks];
            this.back = new long[ranks];
            this.untilGradient = new long[ranks];
            this.weights = new long[ranks];
            this.once = new long[ranks];
        }

        /** The next stage, on a rank. */
        void pass(int rank, StageCost stage, boolean splits) {
            if (untilGradient[rank] == 0) { // its first stage
                begin[rank] = there;
                back[rank] = wayBack;
            }
            untilGradient[rank] += stage.forwardNanos() + stage.nanos(Kind.RECOMPUTE) + stage.backwardInputNanos();
            long weight = Math.clamp(stage.fullBackwardNanos() - stage.backwardInputNanos(), 0L,
                    stage.backwardWeightNanos()); // B may be shorter than I and W
            weights[rank] += weight;
            once[rank] += stage.nanos(Kind.REDUCE_GRAD) + stage.nanos(Kind.UPDATE) + stage.nanos(Kind.UNSHARD);
            there += stage.forwardNanos();
            wayBack += stage.backwardInputNanos() + (splits ? 0 : weight);
        }

        long longest(boolean splits, boolean overlaps) {
            long longest = 0;
            for (int rank = 0; rank < begin.length; rank++) {
                long all = microbatches * (untilGradient[rank] + weights[rank]) + once[rank];
                long gradients = microbatches * (untilGradient[rank] + (splits ? 0 : weights[rank])) + back[rank];
                longest = Math.max(longest, overlaps ? all : begin[rank] + Math.max(all, gradients));
            }
            return longest;
        }
    }
}
