package dev.troupe.generate;

import dev.troupe.engine.Engine;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.shard.Overlap;
import dev.troupe.shard.StageBuffers;
import dev.troupe.stage.StageLayers;
import dev.troupe.weights.WeightSource;

/**
 * The weights of a whole model on one engine, for forwards that keep nothing.
 *
 * <p>Thread rule: as for the engine, which stays the caller's.
 */
final class ModelLayers implements AutoCloseable {
    private final Engine engine;
    private final ModelSpec model;
    private final LayerContext context;
    private final SequenceForward longest;
    private final StageBuffers buffers;

    /**
     * Reads the weights.
     *
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    ModelLayers(Engine engine, ModelSpec model, WeightSource source, int sequenceLength) {
        this(model, source, new LayerContext(engine, new TensorPool(engine), model.size(Axis.HIDDEN), 1,
                sequenceLength, 1, TensorShare.ALL));
    }

    private ModelLayers(ModelSpec model, WeightSource source, LayerContext context) {
        this.engine = context.engine();
        this.model = model;
        this.context = context;
        longest = new SequenceForward(context, model);
        StageLayers layers = longest.layers();
        buffers = new StageBuffers(engine, layers.used(), false, DataShare.ALL, TensorGroup.ALONE, context.pool(),
                Overlap.NONE, 0);
        load(source);
    }

    /**
     * Reads the weights again.
     *
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    void load(WeightSource source) {
        buffers.load(longest.layers().parameters(), source);
    }

    /**
     * Returns the layers of this model with adapters, which have the memory of these weights and are closed before them.
     *
     * @param adapted this model with frozen weights, and with adapters
     * @param adapters the weights of the adapters alone
     * @throws dev.troupe.weights.WeightException if the source lacks a tensor
     */
    ModelLayers withAdapters(ModelSpec adapted, WeightSource adapters) {
        return new ModelLayers(adapted, adapters, context.withOwnParameters(new TensorPool(engine)));
    }

    /** Returns the forwards of the longest sequences, closed with this. */
    SequenceForward longest() {
        return longest;
    }

    /** Returns the forwards of sequences of another length, which the caller closes before this. */
    SequenceForward ofLength(int length) {
        return new SequenceForward(context.ofSequences(length, new TensorPool(engine)), model);
    }

    @Override
    public void close() {
        longest.close();
        buffers.close();
    }
}
