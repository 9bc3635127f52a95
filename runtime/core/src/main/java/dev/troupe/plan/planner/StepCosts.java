package dev.troupe.plan.planner;

import dev.troupe.config.spec.MemorySpec;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.LayerRange;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/**
 * The costs of the actions of a candidate. A tensor-parallel group sums the output of each half of a block in the forward
 * and the gradient of its input in the backward, within F and I. Ranks with the same weights sum gradients once in a step,
 * or after each microbatch under ZeRO 2 and 3, and gather weights. All of it follows what is computed, except weights of
 * ZeRO 3: they travel while the layer before computes.
 *
 * <p>Source of the volumes: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters, 2021, section
 * 3.2; Rajbhandari et al., ZeRO, 2020, section 7.
 */
final class StepCosts {
    private final StageTimes times;
    private final MachineFigures figures;
    private final EngineSettings engine;
    private final int sequenceLength;
    private final boolean roundsGradients;
    private final Map<Grain, List<StageCost>> layers = new HashMap<>();
    private final Map<Computing, List<StageCost>> computing = new HashMap<>();

    /** The choices that decide the times of a layer. */
    private record Grain(int microbatchSize, int tensor) {
        static Grain of(PlanGrid grid) {
            return new Grain(grid.microbatchSize(), grid.tensor());
        }
    }

    /** The choices that decide the times of stages, without their groups. */
    private record Computing(Grain grain, int stageCount, String layout, MemorySpec.Recompute recompute,
            boolean replaysAhead) {
    }

    /**
     * @param sequenceLength the most tokens of a sequence
     * @param roundsGradients whether gradients travel as bfloat16
     */
    StepCosts(StageTimes times, MachineFigures figures, EngineSettings engine, int sequenceLength,
            boolean roundsGradients) {
        this.times = times;
        this.figures = figures;
        this.engine = engine;
        this.sequenceLength = sequenceLength;
        this.roundsGradients = roundsGradients;
    }

    /** Returns the costs on machines with other figures. */
    StepCosts with(MachineFigures others) {
        return new StepCosts(times, others, engine, sequenceLength, roundsGradients);
    }

    /** Returns the costs of a planned run. */
    Costs of(PlanChoice choice, Cut cut, TrainingPlan plan) {
        return of(choice, cut, plan, times.of(plan));
    }

    /** Returns the costs of a planned run with other times of its stages. */
    Costs of(PlanChoice choice, Cut cut, TrainingPlan plan, List<StageCost> alone) {
        RankLinks links = RankLinks.of(choice.grid(), figures);
        return new Costs(shared(choice, cut, alone, links, stage -> plan.training().plan().rankOf(stage, 0)),
                links::between, times.decisionNanos(), sharedBytes(cut.partition().model(), choice),
                Costs.Microbatches.ALIKE);
    }

    /**
     * Returns the bytes of the gradient of a table that the first and the last stage share, of which a rank may hold a
     * share; 0 if they share none.
     */
    long sharedBytes(ModelSpec model, PlanChoice choice) {
        long elements = model.sharedInTraining().stream().mapToLong(shared -> shared.parameter().elementCount()).sum();
        int holders = choice.grid().tensor()
                * (Zero.of(choice.zero()).includes(Zero.GRADIENTS) ? choice.grid().data() : 1);
        return elements / holders * engine.parameterType().elementBytes(); // rounded down
    }

    /** Returns the least times of each layer, without groups; RECOMPUTE is the time of a replay. */
    List<StageCost> layers(ModelSpec model, PlanGrid grid) {
        return layers.computeIfAbsent(Grain.of(grid), _ -> times.layers(model, grid, sequenceLength));
    }

    /**
     * Returns the least costs of the stages of a candidate that is not planned yet, from the costs of its layers.
     *
     * @param place the place of each stage in the pipeline
     */
    List<StageCost> least(PlanChoice choice, Cut cut, IntUnaryOperator place) {
        Computing key = new Computing(Grain.of(choice.grid()), choice.stageCount(), choice.layout(),
                choice.recompute(), choice.replaysAhead());
        return shared(choice, cut, computing.computeIfAbsent(key, _ -> computing(choice, cut)),
                RankLinks.of(choice.grid(), figures), place);
    }

    private List<StageCost> computing(PlanChoice choice, Cut cut) {
        List<StageCost> ofLayers = layers(cut.partition().model(), choice.grid());
        List<StageCost> stages = new ArrayList<>();
        for (LayerRange range : cut.partition().stages()) {
            StageCost sum = ofLayers.get(range.first());
            for (StageCost layer : ofLayers.subList(range.first() + 1, range.last() + 1)) {
                sum = sum.then(layer);
            }
            long again = choice.recompute() == MemorySpec.Recompute.FULL ? sum.nanos(Kind.RECOMPUTE) : 0;
            stages.add(sum.with(Kind.RECOMPUTE, 0).replaying(again, choice.replaysAhead()));
        }
        return stages;
    }

    private List<StageCost> shared(PlanChoice choice, Cut cut, List<StageCost> alone, RankLinks links,
            IntUnaryOperator place) {
        long boundary = boundaryBytes(cut.partition().model(), choice.grid());
        long sum = links.tensor().allReduceNanos(boundary);
        List<StageCost> stages = new ArrayList<>();
        for (int stage = 0; stage < alone.size(); stage++) {
            int rank = place.applyAsInt(stage);
            StageCost summed = summing(choice, stage, cut.sizes().get(stage).halves(),
                    alone.get(stage).at(links.speed(rank)), sum, stage == alone.size() - 1);
            stages.add(sharing(choice, cut.sizes().get(stage), summed, links.data(rank), boundary));
        }
        return stages;
    }

    /** Adds the sums of a tensor-parallel group; {@code sum} is the time of one. */
    private static StageCost summing(PlanChoice choice, int stage, int halves, StageCost alone, long sum,
            boolean isLast) {
        long again = choice.recompute() == MemorySpec.Recompute.FULL ? halves * sum : 0;
        long input = alone.backwardInputNanos() + (halves + (isLast ? 1 : 0)) * sum
                + (choice.replaysAhead() ? 0 : again);
        return new StageCost(alone.forwardNanos() + (halves + (stage == 0 ? 1 : 0)) * sum, input,
                alone.backwardWeightNanos(), alone.fullBackwardNanos() + input - alone.backwardInputNanos(), 0,
                alone.otherNanos())
                .with(Kind.RECOMPUTE, alone.nanos(Kind.RECOMPUTE) + (choice.replaysAhead() ? again : 0));
    }

    /** Adds the traffic among ranks with the same weights. */
    private StageCost sharing(PlanChoice choice, StageSize size, StageCost alone, GroupLink data, long boundary) {
        Zero zero = Zero.of(choice.zero());
        int elementBytes = engine.parameterType().elementBytes();
        long weights = size.trained() / choice.grid().tensor(); // rounded down: norms are whole
        long gather = data.allGatherNanos(weights * elementBytes);
        long scatter = data.allGatherNanos(weights * (roundsGradients ? Short.BYTES : elementBytes));
        long forward = alone.forwardNanos();
        long input = alone.backwardInputNanos();
        long weight = alone.backwardWeightNanos() + (zero.includes(Zero.GRADIENTS) ? scatter : 0);
        if (zero.includes(Zero.WEIGHTS)) {
            long first = gather / size.layers(); // rounded down
            forward = Math.max(forward, gather) + first;
            input = Math.max(input, gather) + first;
        }
        boolean gathersUpdates = zero.includes(Zero.OPTIMIZER) && !zero.includes(Zero.WEIGHTS);
        long more = input - alone.backwardInputNanos() + weight - alone.backwardWeightNanos();
        return new StageCost(forward, input, weight, alone.fullBackwardNanos() + more, boundary, alone.otherNanos())
                .with(Kind.REDUCE_GRAD, zero.includes(Zero.GRADIENTS) ? 0 : zero == Zero.NONE ? 2 * scatter : scatter)
                .with(Kind.UNSHARD, gathersUpdates ? gather : 0);
    }

    /** Returns the bytes of an activation between two stages, [B T x C]. */
    private long boundaryBytes(ModelSpec model, PlanGrid grid) {
        return TrainingPlan.boundaryBytes(model, grid.microbatchSize() * sequenceLength, engine.computeType());
    }
}
