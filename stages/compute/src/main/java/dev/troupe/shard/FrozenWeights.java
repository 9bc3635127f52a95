package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.weights.WeightSource;
import java.util.List;

/**
 * The weights of a stage that no step changes, in one flat buffer, and in mixed precision in another one, rounded for the
 * products. Every rank that holds the stage has all of them.
 */
final class FrozenWeights implements AutoCloseable {
    private final Engine engine;
    private final List<Parameter> parameters;
    /** Null where nothing is frozen. */
    private final Tensor weights;
    /** The weights in the type that products read; the same buffer where that is theirs. */
    private final Tensor operands;

    /** Allocates the weights of these parameters, which are zero. */
    FrozenWeights(Engine engine, List<Parameter> parameters) {
        this.engine = engine;
        this.parameters = List.copyOf(parameters);
        if (parameters.isEmpty()) {
            weights = null;
            operands = null;
            return;
        }
        BufferLayout layout = new BufferLayout(parameters);
        Shape all = Shape.row(layout.elementCount());
        weights = engine.allocate(engine.parameterType(), all);
        operands = engine.computeType() == engine.parameterType()
                ? weights
                : engine.allocate(engine.computeType(), all);
        for (Parameter parameter : parameters) {
            Tensor own = engine.range(weights, layout.start(parameter), parameter.shape());
            parameter.placeWeights(own, operands == weights
                    ? own
                    : engine.range(operands, layout.start(parameter), parameter.shape()));
        }
    }

    /** Fills the weights with those of a source. */
    void load(WeightSource source) {
        if (weights == null) {
            return;
        }
        parameters.forEach(parameter -> new StateTensor(parameter.name(), parameter.weights(), parameter.slice(), false)
                .load(engine, source));
        if (operands != weights) {
            engine.cast(weights, operands);
        }
    }

    /** Bytes of the weights, without those that are rounded for the products. */
    long weightBytes() {
        return weights == null ? 0 : weights.byteCount();
    }

    @Override
    public void close() {
        if (weights != null) {
            weights.close();
            if (operands != weights) {
                operands.close();
            }
        }
    }
}
