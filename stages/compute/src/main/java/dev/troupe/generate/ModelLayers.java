package dev.troupe.generate;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.partition.LayerRange;
import dev.troupe.shard.StageBuffers;
import dev.troupe.stage.StageLayers;
import dev.troupe.stage.TokenUpload;
import dev.troupe.weights.WeightSource;

/**
 * All layers of a model on one engine, for forwards of one sequence at a time that keep nothing.
 *
 * <p>Thread rule: as for the engine, which stays the caller's.
 */
final class ModelLayers implements AutoCloseable {
    private final TensorPool pool;
    private final StageLayers layers;
    private final StageBuffers buffers;
    private final TokenUpload upload;

    /**
     * Reads the weights.
     *
     * @throws dev.troupe.weights.WeightException
     *             where the source lacks a tensor
     */
    ModelLayers(Engine engine, ModelSpec model, WeightSource source, int sequenceLength) {
        pool = new TensorPool(engine);
        LayerContext context = new LayerContext(engine, pool, model.size(Axis.HIDDEN), 1, sequenceLength, 1,
                TensorShare.ALL);
        layers = StageLayers.of(context, model, new LayerRange(0, model.layers().size() - 1));
        buffers = new StageBuffers(engine, layers.used(), false, DataShare.ALL, TensorGroup.ALONE, pool);
        buffers.load(layers.parameters(), source);
        upload = new TokenUpload(context, 0, model.size(Axis.VOCABULARY));
    }

    TensorPool pool() {
        return pool;
    }

    TokenUpload upload() {
        return upload;
    }

    HeadLayer head() {
        return layers.head();
    }

    /**
     * The output of the last block, which the caller gives back.
     *
     * @param starts
     *            where each row's document begins; null where the sequence is one
     */
    Tensor beforeHead(int[] tokens, Tensor starts) {
        return layers.forwardBeforeHead(upload.tokens(tokens), new MicrobatchContext(DropoutKey.NONE, starts));
    }

    @Override
    public void close() {
        pool.close();
        buffers.close();
        upload.close();
    }
}
