package dev.troupe.plan.planner;

import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkCosts;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.LayerCosts;
import dev.troupe.plan.EmulatedCosts;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.profile.StepInterval;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.simulator.StageCost;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

/** The time that a rank computes for a microbatch, without messages and groups. */
public interface StageTimes {
    /** Returns the times of the stages of a planned run, replays included. */
    List<StageCost> of(TrainingPlan plan);

    /**
     * Returns the times of each layer, from which a bound follows before anything is planned; RECOMPUTE is the part of its
     * forward that a replay cannot leave out.
     *
     * @param sequenceLength the most tokens of a sequence
     */
    List<StageCost> layers(ModelSpec model, PlanGrid grid, int sequenceLength);

    /** Returns the time of a step outside its actions: before the first, for the decision on updates, after the last. */
    default long decisionNanos() {
        return 0;
    }

    /** Returns why these times are not of a grid; empty if they are. */
    default Optional<String> obstacle(PlanGrid grid) {
        return Optional.empty();
    }

    /**
     * Returns the interval of a step that these times predict; empty if they are assumed, so that nothing is known of
     * their spread.
     */
    default Optional<StepInterval> interval(ToLongFunction<StageTimes> step) {
        return Optional.empty();
    }

    /** Returns the values of the keys with which the engine {@code emulated} takes these times, without {@code troupe.}. */
    Map<String, Object> emulation(TrainingPlan plan);

    /** Returns the times of each stage of a plan on an engine that has costs instead of numbers. */
    static List<StageCost> ofCosts(WorkCosts costs, int stageCount) {
        return IntStream.range(0, stageCount).mapToObj(stage -> {
            long input = costs.nanos(stage, Work.BACKWARD_INPUT);
            long weight = costs.nanos(stage, Work.BACKWARD_WEIGHT);
            return new StageCost(costs.nanos(stage, Work.FORWARD), input, weight, input + weight, 0,
                    Map.of(Kind.UPDATE, costs.nanos(stage, Work.UPDATE), Kind.RECOMPUTE,
                            costs.nanos(stage, Work.RECOMPUTE)));
        }).toList();
    }

    /**
     * Returns times by counted operations, as Narayanan et al. 2021, section 5.1, have them, at a rate that does not
     * depend on the shapes: the times of the engine {@code emulated}.
     *
     * @param deviceFlops operations a second of a rank
     */
    static StageTimes ofOperations(double deviceFlops) {
        List<Duration> none = List.of(Duration.ZERO);
        EmulatedSpec device = new EmulatedSpec(none, none, none, none, none, deviceFlops);
        return new StageTimes() {
            @Override
            public List<StageCost> of(TrainingPlan plan) {
                return ofCosts(EmulatedCosts.of(device, plan), plan.partition().stageCount());
            }

            @Override
            public Map<String, Object> emulation(TrainingPlan plan) {
                return Map.of("engine.kind", "emulated", "engine.emulated.speed", 1,
                        "engine.emulated.device-flops", deviceFlops);
            }

            @Override
            public List<StageCost> layers(ModelSpec model, PlanGrid grid, int sequenceLength) {
                int rows = grid.microbatchSize() * sequenceLength;
                double rate = deviceFlops * grid.tensor() / 1e9;
                return model.layers().stream().map(layer -> {
                    LayerCosts costs = layer.costs().of(rows, sequenceLength);
                    long again = layer.isHalf()
                            ? (long) ((costs.products() + costs.attention() - costs.lastProduct()) / rate)
                            : 0;
                    return new StageCost((long) ((costs.products() + costs.attention()) / rate),
                            (long) ((costs.products() + 2 * costs.attention()) / rate),
                            (long) (layer.weightProducts(costs, rows) / rate), 0).with(Kind.RECOMPUTE, again);
                }).toList();
            }
        };
    }
}
