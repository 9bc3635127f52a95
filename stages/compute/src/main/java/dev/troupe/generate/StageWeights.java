package dev.troupe.generate;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.shard.StateTensor;
import dev.troupe.stage.Stage;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The newest weights of a pipeline's stages as a source for another grid in this process, without a file. Each read copies a
 * tensor as it is at that time: after an update it is the next version.
 *
 * <p>Thread rule: the engine's thread, between the steps.
 */
public final class StageWeights implements WeightSource {
    private final Engine engine;
    private final Map<String, StateTensor> tensors = new HashMap<>();

    private StageWeights(Engine engine) {
        this.engine = engine;
    }

    /**
     * Returns the weights of undivided stages.
     *
     * @param engine the engine of all stages
     * @throws IllegalArgumentException if a stage has only a rank's share of a tensor
     */
    public static StageWeights of(Engine engine, List<Stage> stages) {
        StageWeights weights = new StageWeights(engine);
        for (Stage stage : stages) {
            for (StateTensor held : stage.weights()) {
                if (!held.slice().isWhole()) {
                    throw new IllegalArgumentException("stage " + stage.index() + " has only a share of " + held.name()
                            + ": the weights of divided stages are read from a checkpoint");
                }
                if (!held.copy()) {
                    weights.tensors.put(held.name(), held);
                }
            }
        }
        return weights;
    }

    @Override
    public void read(String name, Shape shape, DataType parameterType, MemorySegment target) {
        StateTensor held = tensors.get(name);
        if (held == null || !held.tensor().shape().equals(shape) || held.tensor().dataType() != parameterType) {
            throw new WeightException(
                    "the stages must have " + name + " as " + parameterType + " " + shape + ", but have "
                            + (held == null ? "none" : held.tensor().dataType() + " " + held.tensor().shape()));
        }
        engine.copyToHost(held.tensor(), 0, target);
    }
}
