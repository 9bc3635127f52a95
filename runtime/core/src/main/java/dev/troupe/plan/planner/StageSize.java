package dev.troupe.plan.planner;

import dev.troupe.model.LayerSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The numbers that a stage holds, counted once for all candidates with its layers.
 *
 * @param layers the number of its layers
 * @param halves the number of them that are halves of a block
 * @param elements of its parameters; a shared one counts once
 * @param trained of those that are trained
 * @param moments of the optimizer's state
 */
record StageSize(int layers, int halves, long elements, long trained, long moments) {
    static StageSize of(List<LayerSpec> layers, Optimizer optimizer) {
        Map<String, ParameterSpec> held = new HashMap<>();
        layers.forEach(layer -> layer.parameters().forEach(parameter -> held.put(parameter.name(), parameter)));
        long elements = 0;
        long trained = 0;
        long moments = 0;
        for (ParameterSpec parameter : held.values()) {
            long own = parameter.elementCount();
            elements += own;
            trained += parameter.isTrained() ? own : 0;
            moments += parameter.isTrained() ? own * optimizer.moments(parameter).size() : 0;
        }
        return new StageSize(layers.size(), (int) layers.stream().filter(LayerSpec::isHalf).count(), elements, trained,
                moments);
    }

    static List<StageSize> of(Partition partition, Optimizer optimizer) {
        return IntStream.range(0, partition.stageCount())
                .mapToObj(stage -> of(partition.layers(stage).of(partition.model()), optimizer)).toList();
    }

    /**
     * Returns the bytes that a rank of the stage cannot do without: its share of weights, gradients and optimizer state.
     * They refuse most candidates that cannot fit before these are planned; those that remain are announced to the byte.
     *
     * <p>Source: Rajbhandari et al., ZeRO, 2020, section 5.
     *
     * @param elementBytes of a parameter
     */
    long leastBytes(int tensor, int data, Zero zero, int elementBytes) {
        long bytes = elements / (zero.includes(Zero.WEIGHTS) ? data : 1)
                + trained / (zero.includes(Zero.GRADIENTS) ? data : 1)
                + moments / (zero.includes(Zero.OPTIMIZER) ? data : 1); // each rounded down
        return bytes / tensor * elementBytes; // rounded down: every parameter is taken as divided
    }
}
