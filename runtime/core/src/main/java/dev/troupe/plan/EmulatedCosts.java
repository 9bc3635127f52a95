package dev.troupe.plan;

import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkCosts;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.spec.LayerCosts;
import dev.troupe.partition.Partition;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.StageSettings;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * What the engine that computes nothing is told: the times of the configuration, or those of the model's own operations at
 * the rate of a device, as its layers count them: see {@link LayerCosts}. Where forwards are run again, the backward for
 * the input has them too, without the last product of what a stage has of a block.
 */
public final class EmulatedCosts implements WorkCosts {
    private final Map<Work, long[]> nanos = new EnumMap<>(Work.class);

    /**
     * @throws UsageException
     *             where a list has neither one time nor one for each stage
     */
    public EmulatedCosts(EmulatedSpec spec, Partition partition, StageSettings settings) {
        int stageCount = partition.stageCount();
        nanos.put(Work.FORWARD, told("forward", spec.forward(), stageCount));
        nanos.put(Work.BACKWARD_INPUT, told("backward-input", spec.backwardInput(), stageCount));
        nanos.put(Work.BACKWARD_WEIGHT, told("backward-weight", spec.backwardWeight(), stageCount));
        nanos.put(Work.UPDATE, told("update", spec.update(), stageCount));
        if (spec.deviceFlops() > 0) {
            for (int stage = 0; stage < stageCount; stage++) {
                double products = 0;
                double attention = 0;
                double again = 0;
                double weights = 0;
                List<LayerSpec> layers = partition.layers(stage).of(partition.model());
                for (int layer = 0; layer < layers.size(); layer++) {
                    LayerCosts costs = layers.get(layer).costs().of(settings.rows(), settings.sequenceLength());
                    products += costs.products();
                    attention += costs.attention();
                    again += costs.products() + costs.attention();
                    boolean endsBlock = layer == layers.size() - 1
                            || !layers.get(layer + 1).block().equals(layers.get(layer).block());
                    again -= endsBlock ? costs.lastProduct() : 0;
                    weights += layers.get(layer).weightProducts(costs, settings.rows());
                }
                again = settings.recompute() == Recompute.FULL ? again : 0;
                nanos.get(Work.FORWARD)[stage] = at(spec, products + attention);
                nanos.get(Work.BACKWARD_INPUT)[stage] = at(spec, again + products + 2 * attention);
                nanos.get(Work.BACKWARD_WEIGHT)[stage] = at(spec, weights);
                nanos.get(Work.UPDATE)[stage] = 0;
            }
        }
        nanos.put(Work.BACKWARD, IntStream.range(0, stageCount)
                .mapToLong(stage -> nanos(stage, Work.BACKWARD_INPUT) + nanos(stage, Work.BACKWARD_WEIGHT)).toArray());
    }

    /** What a device of a thousand million operations a second would take for the model's own. */
    public static EmulatedCosts ofOperations(TrainingPlan plan) {
        List<Duration> none = List.of(Duration.ZERO);
        return new EmulatedCosts(new EmulatedSpec(none, none, none, none, 1e9), plan.partition(),
                plan.stageSettings());
    }

    private static long[] told(String work, List<Duration> times, int stageCount) {
        if (times.size() != 1 && times.size() != stageCount) {
            throw new UsageException(
                    "engine.emulated." + work + " needs one time, or one for each of the " + stageCount
                            + " stages, but has " + times.size());
        }
        long[] nanos = new long[stageCount];
        for (int stage = 0; stage < stageCount; stage++) {
            nanos[stage] = times.get(times.size() == 1 ? 0 : stage).toNanos();
        }
        return nanos;
    }

    private static long at(EmulatedSpec spec, double flops) {
        return Math.round(flops / spec.deviceFlops() * 1e9);
    }

    @Override
    public long nanos(int stage, Work work) {
        return nanos.get(work)[stage];
    }
}
