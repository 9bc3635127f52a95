package dev.troupe.plan.planner;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.StepInterval;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.stage.Recompute;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measured times of layers, and times between the actions of a short run if the profile has them. They are of one microbatch
 * size and one T; a replay takes the forward of the blocks that are computed again.
 */
public record ProfiledTimes(Profile profile) implements StageTimes {
    private static final double LEVEL = 0.9;
    private static final int DRAWS = 200;
    private static final long SEED = 1;

    @Override
    public List<StageCost> of(TrainingPlan plan) {
        boolean replays = plan.stageSettings().recompute() == Recompute.FULL;
        List<StageCost> stages = new ArrayList<>();
        for (StageCost once : once(plan)) {
            long again = replays ? once.nanos(Kind.RECOMPUTE) : 0;
            stages.add(once.with(Kind.RECOMPUTE, 0).replaying(again,
                    plan.training().plan().stagesThatReplay().contains(stages.size()))
                    .plus(profile.overheads().control()));
        }
        return stages;
    }

    /** Returns the times of the stages without replays; RECOMPUTE is the time of one. */
    private List<StageCost> once(TrainingPlan plan) {
        List<StageCost> layers = costs(plan.model());
        return plan.partition().stages().stream().map(range -> layers.subList(range.first(), range.last() + 1).stream()
                .reduce(StageCost::then).orElseThrow()).toList();
    }

    @Override
    public long decisionNanos() {
        return profile.overheads().once();
    }

    /** The emulated engine takes I and W together for B: if a stage has no W of its own, W is the rest of B. */
    @Override
    public Map<String, Object> emulation(TrainingPlan plan) {
        List<StageCost> stages = once(plan);
        Set<Integer> split = plan.training().plan().rows().stream().flatMap(List::stream)
                .filter(action -> action.kind() == Kind.BACKWARD_WEIGHT).map(Action::stage).collect(Collectors.toSet());
        List<Duration> weights = IntStream.range(0, stages.size()).mapToObj(stage -> {
            StageCost cost = stages.get(stage);
            return Duration.ofNanos(split.contains(stage)
                    ? cost.backwardWeightNanos()
                    : Math.max(0, cost.fullBackwardNanos() - cost.backwardInputNanos()));
        }).toList();
        return Map.of("engine.kind", "emulated", "engine.emulated.speed", 1,
                "engine.emulated.device-flops", 0,
                "engine.emulated.forward", times(stages, Kind.FORWARD),
                "engine.emulated.backward-input", times(stages, Kind.BACKWARD_INPUT),
                "engine.emulated.backward-weight", weights,
                "engine.emulated.recompute", times(stages, Kind.RECOMPUTE),
                "engine.emulated.update", times(stages, Kind.UPDATE));
    }

    private static List<Duration> times(List<StageCost> stages, Kind kind) {
        return stages.stream().map(stage -> Duration.ofNanos(stage.nanos(kind))).toList();
    }

    @Override
    public List<StageCost> layers(ModelSpec model, PlanGrid grid, int sequenceLength) {
        return costs(model);
    }

    private List<StageCost> costs(ModelSpec model) {
        List<Unit> units = profile.units();
        List<StageCost> costs = new ArrayList<>();
        for (LayerSpec layer : model.layers()) {
            StageCost cost = units.get(costs.size()).cost().at(1 / profile.overheads().actionFactor());
            costs.add(cost.with(Kind.RECOMPUTE, layer.isHalf() ? cost.forwardNanos() : 0));
        }
        return costs;
    }

    @Override
    public Optional<String> obstacle(PlanGrid grid) {
        int size = profile.setting().microbatchSize();
        int tensor = profile.setting().tensor();
        return grid.microbatchSize() == size && grid.tensor() == tensor
                ? Optional.empty()
                : Optional.of("the profile is of microbatches of " + size + " and T = " + tensor);
    }

    @Override
    public Optional<StepInterval> interval(ToLongFunction<StageTimes> step) {
        return Optional.of(StepInterval.of(profile, drawn -> step.applyAsLong(new ProfiledTimes(drawn)), LEVEL, DRAWS,
                SEED));
    }
}
