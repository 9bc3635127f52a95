package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.Zero;
import dev.troupe.shard.FlatBuffer.Extent;
import dev.troupe.weights.WeightSource;
import java.util.List;
import java.util.Optional;

/**
 * The weights of a stage that no step changes, in one flat buffer, and in mixed precision in another one, rounded for the
 * products. With ZeRO-3 each data-parallel rank has a share, in the type of parameters only, and layers gather the shares
 * with the trained weights. Otherwise every rank of the stage has all of them.
 */
final class FrozenWeights implements AutoCloseable {
    private final Engine engine;
    private final List<Parameter> parameters;
    private final BufferLayout layout;
    /** Null if nothing is frozen. */
    private final FlatBuffer weights;
    /** The weights in the type that products read; null if it is the same, or if layers gather the weights. */
    private final Tensor computeWeights;

    /** Allocates the weights of these parameters, as zeros. */
    FrozenWeights(Engine engine, StageParameters layers, DataShare data) {
        this.engine = engine;
        this.parameters = layers.frozen();
        boolean isSharedOut = data.shares(Zero.WEIGHTS);
        this.layout = isSharedOut
                ? new BufferLayout(layers.frozenBuckets(), data)
                : new BufferLayout(parameters);
        if (parameters.isEmpty()) {
            weights = null;
            computeWeights = null;
            return;
        }
        Shape all = Shape.row(isSharedOut ? layout.shareElementCount() : layout.elementCount());
        weights = new FlatBuffer(engine, engine.allocate(engine.parameterType(), all),
                isSharedOut ? Extent.SHARE : Extent.ALL);
        computeWeights = isSharedOut || engine.computeType() == engine.parameterType()
                ? null
                : engine.allocate(engine.computeType(), all);
        if (!isSharedOut) {
            parameters.forEach(this::place);
        }
    }

    private void place(Parameter parameter) {
        Tensor own = engine.range(weights.tensor(), layout.start(parameter), parameter.shape());
        parameter.placeWeights(own,
                computeWeights == null
                        ? own
                        : engine.range(computeWeights, layout.start(parameter), parameter.shape()));
    }

    /** Returns the weights that layers gather; empty if nothing is frozen. */
    Optional<WeightShare> share() {
        return Optional.ofNullable(weights).map(own -> new WeightShare(layout, own));
    }

    void load(WeightSource source) {
        if (weights == null) {
            return;
        }
        parameters.forEach(parameter -> layout.held(parameter.name(), parameter, weights, false)
                .ifPresent(held -> held.load(engine, source)));
        if (computeWeights != null) {
            engine.cast(weights.tensor(), computeWeights);
        }
    }

    /** Returns the bytes of the weights, without copies that are rounded for the products. */
    long weightBytes() {
        return weights == null ? 0 : weights.tensor().byteCount();
    }

    @Override
    public void close() {
        if (weights != null) {
            weights.tensor().close();
            if (computeWeights != null) {
                computeWeights.close();
            }
        }
    }
}
