package dev.troupe.plan.planner;

import dev.troupe.config.spec.MemorySpec;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.partition.LayerRange;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.profile.Profile;
import dev.troupe.plan.profile.StepInterval;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.stage.Recompute;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * Measured times of layers. They are of one microbatch size and one T; a replay takes the forward of the blocks that are
 * computed again.
 */
public record ProfiledTimes(Profile profile) implements StageTimes {
    private static final double LEVEL = 0.9;
    private static final int DRAWS = 200;
    private static final long SEED = 1;

    @Override
    public List<StageCost> of(TrainingPlan plan) {
        List<StageCost> layers = costs(plan.model());
        boolean replays = plan.stageSettings().recompute() == Recompute.FULL;
        List<StageCost> stages = new ArrayList<>();
        for (LayerRange range : plan.partition().stages()) {
            StageCost sum = layers.get(range.first());
            for (StageCost layer : layers.subList(range.first() + 1, range.last() + 1)) {
                sum = sum.then(layer);
            }
            long again = replays ? sum.nanos(Kind.RECOMPUTE) : 0;
            stages.add(sum.with(Kind.RECOMPUTE, 0).replaying(again,
                    plan.training().plan().stagesThatReplay().contains(stages.size())));
        }
        return stages;
    }

    @Override
    public List<StageCost> layers(ModelSpec model, PlanGrid grid, int sequenceLength) {
        return costs(model);
    }

    private List<StageCost> costs(ModelSpec model) {
        List<Unit> units = profile.units();
        List<StageCost> costs = new ArrayList<>();
        for (LayerSpec layer : model.layers()) {
            StageCost cost = units.get(costs.size()).cost();
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
