package dev.troupe.generate;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.HeadLayer;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.partition.LayerRange;
import dev.troupe.stage.StageLayers;
import dev.troupe.stage.TokenUpload;

/**
 * All layers of a model for sequences of one length, one at a time, with their activations.
 *
 * <p>Thread rule: as for the engine.
 */
final class SequenceForward implements AutoCloseable {
    private final TensorPool pool;
    private final int length;
    private final StageLayers layers;
    private final TokenUpload upload;

    /** Creates the layers of a context, and closes its pool with this. */
    SequenceForward(LayerContext context, ModelSpec model) {
        pool = context.pool();
        length = context.sequenceLength();
        layers = StageLayers.of(context, model, new LayerRange(0, model.layers().size() - 1));
        upload = new TokenUpload(context, 0, model.size(Axis.VOCABULARY));
    }

    TensorPool pool() {
        return pool;
    }

    int length() {
        return length;
    }

    StageLayers layers() {
        return layers;
    }

    TokenUpload upload() {
        return upload;
    }

    HeadLayer head() {
        return layers.head();
    }

    /**
     * Returns the output of the last block, which the caller gives back.
     *
     * @param tokens of the microbatch; further ones are not read
     */
    Tensor beforeHead(int[] tokens, MicrobatchContext microbatch) {
        return layers.forwardBeforeHead(upload.tokens(tokens, microbatch.length()), microbatch);
    }

    @Override
    public void close() {
        pool.close();
        upload.close();
    }
}
