package dev.troupe.stage;

import dev.troupe.engine.Engine;
import dev.troupe.layer.Parameter;
import dev.troupe.optimizer.OptimizerState;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.shard.FlatBuffer;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import dev.troupe.weights.WeightSource;
import java.util.ArrayList;
import java.util.List;

/** What one rank has of a stage's weights, gradients and optimizer state, by name. */
final class StageState {
    private final Engine engine;
    private final StageLayers layers;
    private final StageBuffers buffers;
    private final OptimizerState optimizer;
    private final TensorGroup group;
    private final List<StateTensor> all;

    StageState(Engine engine, StageLayers layers, StageBuffers buffers, OptimizerState optimizer, TensorGroup group) {
        this.engine = engine;
        this.layers = layers;
        this.buffers = buffers;
        this.optimizer = optimizer;
        this.group = group;
        this.all = withOptimizer(weights());
    }

    List<StateTensor> weights() {
        return named(buffers.weights());
    }

    List<StateTensor> gradients() {
        return named(buffers.gradients());
    }

    private List<StateTensor> named(FlatBuffer buffer) {
        return named("", buffer);
    }

    private List<StateTensor> named(String prefix, FlatBuffer buffer) {
        return layers.parameters().stream().flatMap(
                parameter -> buffers.held(prefix + parameter.name(), parameter, buffer, isCopy(parameter)).stream())
                .toList();
    }

    /**
     * Weights, those before the last update too where there are two versions, and optimizer state: the same tensors always,
     * so that a snapshot after each update asks for no new list.
     */
    List<StateTensor> all() {
        return all;
    }

    private List<StateTensor> withOptimizer(List<StateTensor> weights) {
        List<StateTensor> all = new ArrayList<>(weights);
        buffers.olderWeights().ifPresent(older -> all.addAll(named(StateTensor.OLDER, older)));
        layers.parameters().forEach(parameter -> optimizer.addTo(all, parameter, isCopy(parameter)));
        return List.copyOf(all);
    }

    /** Restores {@link #all} from whole tensors. */
    void load(WeightSource source) {
        all().forEach(named -> named.load(engine, source));
    }

    /** Restores {@link #all} from a source that has this rank's slices alone. */
    void loadOwn(WeightSource source) {
        all().forEach(named -> named.loadOwn(engine, source));
    }

    private boolean isCopy(Parameter parameter) {
        return layers.isTiedCopy(parameter) || parameter.slice().isWhole() && group.rank() > 0;
    }
}
