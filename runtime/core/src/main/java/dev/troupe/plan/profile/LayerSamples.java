package dev.troupe.plan.profile;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.StageCost;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The measured times of layers of one form, which call the same kernels with the same shapes.
 *
 * @param keptBytes bytes that a forward keeps for its backward, the layer's input with them
 * @param nanos for F, I, W, B and UPDATE every measured time, in the order of measuring
 */
public record LayerSamples(long keptBytes, long outputBytes, Map<Kind, List<Long>> nanos) {
    public LayerSamples {
        Map<Kind, List<Long>> copy = new EnumMap<>(Kind.class);
        nanos.forEach((kind, times) -> copy.put(kind, List.copyOf(times)));
        nanos = copy;
    }

    /** Returns the samples of several layers of one form that were measured at the same time, in the order of time. */
    public static LayerSamples together(List<LayerSamples> layers) {
        Map<Kind, List<Long>> nanos = new EnumMap<>(Kind.class);
        for (Kind kind : layers.getFirst().nanos.keySet()) {
            List<Long> all = nanos.computeIfAbsent(kind, _ -> new ArrayList<>());
            int most = layers.stream().mapToInt(layer -> layer.nanos.get(kind).size()).max().orElseThrow();
            for (int time = 0; time < most; time++) {
                for (LayerSamples layer : layers) {
                    if (time < layer.nanos.get(kind).size()) {
                        all.add(layer.nanos.get(kind).get(time));
                    }
                }
            }
        }
        return new LayerSamples(layers.getFirst().keptBytes, layers.getFirst().outputBytes, nanos);
    }

    /** Returns the q-quantile of the times of a kind: the least time that is not below a share q of them. */
    public long quantile(Kind kind, double q) {
        return quantile(nanos.get(kind), q);
    }

    static long quantile(List<Long> times, double q) {
        long[] sorted = times.stream().mapToLong(Long::longValue).sorted().toArray();
        return sorted[Math.clamp((int) Math.ceil(q * sorted.length) - 1, 0, sorted.length - 1)];
    }

    /** Returns the medians as a unit that partitions do not cut. Its resident bytes are 0: they depend on the optimizer. */
    Unit median(String name) {
        return new Unit(name, new StageCost(median(Kind.FORWARD), median(Kind.BACKWARD_INPUT),
                median(Kind.BACKWARD_WEIGHT), median(Kind.FULL_BACKWARD), outputBytes,
                Map.of(Kind.UPDATE, median(Kind.UPDATE))), 0, keptBytes);
    }

    private long median(Kind kind) {
        return quantile(kind, 0.5);
    }

    LayerSamples drawn(UnaryOperator<List<Long>> draw) {
        Map<Kind, List<Long>> drawn = new EnumMap<>(Kind.class);
        nanos.forEach((kind, times) -> drawn.put(kind, draw.apply(times)));
        return new LayerSamples(keptBytes, outputBytes, drawn);
    }
}
