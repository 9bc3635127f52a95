package dev.troupe.stage;

import dev.troupe.engine.Engine;
import dev.troupe.layer.Parameter;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.optimizer.OptimizerState;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.shard.FlatBuffer;
import dev.troupe.shard.StageBuffers;
import dev.troupe.shard.StateTensor;
import dev.troupe.weights.WeightSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** One rank's part of a stage's weights, gradients and optimizer state, by name. */
final class StageState {
    private final Engine engine;
    private final StageLayers layers;
    private final StageBuffers buffers;
    private final OptimizerState optimizer;
    private final TensorGroup group;
    private final int replica;
    // By the turn of the versions of the weights.
    private final Map<Integer, List<StateTensor>> all = new HashMap<>();

    /** @param replica the number of the replica with weights of its own; 0 if there is one */
    StageState(Engine engine, StageLayers layers, StageBuffers buffers, OptimizerState optimizer, TensorGroup group,
            int replica) {
        this.engine = engine;
        this.layers = layers;
        this.buffers = buffers;
        this.optimizer = optimizer;
        this.group = group;
        this.replica = replica;
    }

    List<StateTensor> weights() {
        return named(buffers.weights());
    }

    List<StateTensor> gradients() {
        return layers.parameters().stream().filter(parameter -> !parameter.spec().followsLoads())
                .flatMap(parameter -> held("", parameter, buffers.gradients())).map(this::ofReplica).toList();
    }

    private List<StateTensor> named(FlatBuffer buffer) {
        return named("", buffer);
    }

    private List<StateTensor> named(String prefix, FlatBuffer buffer) {
        return layers.parameters().stream().flatMap(parameter -> held(prefix, parameter, buffer)).toList();
    }

    private Stream<StateTensor> held(String prefix, Parameter parameter, FlatBuffer buffer) {
        return buffers.held(prefix + parameter.name(), parameter, buffer, isCopy(parameter)).stream();
    }

    /**
     * Returns weights of all versions and optimizer state. There are few lists, so that a snapshot after an update creates
     * none.
     */
    List<StateTensor> all() {
        return all.computeIfAbsent(buffers.turnOfVersions(), _ -> withOlderAndOptimizer());
    }

    private List<StateTensor> withOlderAndOptimizer() {
        List<StateTensor> state = new ArrayList<>(weights());
        List<FlatBuffer> older = buffers.olderWeights();
        for (int updates = 1; updates <= older.size(); updates++) {
            state.addAll(named(StateTensor.before(updates), older.get(updates - 1)));
        }
        layers.parameters().forEach(parameter -> optimizer.addTo(state, parameter, isCopy(parameter)));
        return state.stream().map(this::ofReplica).toList();
    }

    /** Returns a tensor under the name of this replica; the first replica writes what all have in common. */
    private StateTensor ofReplica(StateTensor tensor) {
        if (replica == 0) {
            return tensor;
        }
        boolean isCommon = StateTensor.momentOf(tensor.name())
                .filter(moment -> Optimizer.DiLoCo.isOuter(moment.name())).isPresent();
        return isCommon
                ? new StateTensor(tensor.name(), tensor.values(), tensor.slice(), true)
                : new StateTensor(StateTensor.ofReplica(replica, tensor.name()), tensor.values(), tensor.slice(),
                        tensor.copy());
    }

    /** Restores {@link #all} from whole tensors. */
    void load(WeightSource source) {
        all().forEach(named -> named.load(engine, source));
    }

    /** Restores {@link #all} from a source with only this rank's slices. */
    void loadOwn(WeightSource source) {
        all().forEach(named -> named.loadOwn(engine, source));
    }

    private boolean isCopy(Parameter parameter) {
        return layers.isTiedCopy(parameter) || parameter.slice().isWhole() && group.rank() > 0;
    }
}
