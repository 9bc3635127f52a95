package dev.troupe.layer;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;

/**
 * The dropout of addends of the residual stream: at the embedding, and at the end of a half of a block. The mask of an
 * element is the same whether a rank has all rows or only some. A factor of all elements is applied after it.
 */
final class StreamDropout {
    private final Engine engine;
    private final TensorPool pool;
    private final ResidualStream stream;
    private final int layer;
    private final DropoutKey.Site site;
    /** Whether activations have the type that the engine scales. */
    private final boolean scalesInPlace;

    StreamDropout(LayerContext context, ResidualStream stream, int layer, DropoutKey.Site site) {
        this.engine = context.engine();
        this.pool = context.pool();
        this.stream = stream;
        this.layer = layer;
        this.site = site;
        this.scalesInPlace = engine.computeType() == engine.parameterType();
    }

    /** Returns the factor of the half that this dropout ends; 0 if the whole half is dropped. */
    double factorOfHalf(MicrobatchContext microbatch) {
        return microbatch.dropoutKey().ofHalf(layer, site);
    }

    /** Drops elements of this rank's rows, in place, and multiplies the others. */
    void forward(Tensor y, double factor, MicrobatchContext microbatch) {
        if (microbatch.dropoutKey().drops()) {
            engine.dropout(y, dropout(microbatch), y);
        }
        scale(y, factor, microbatch);
    }

    private void scale(Tensor y, double factor, MicrobatchContext microbatch) {
        if (factor == 1) {
            return;
        }
        if (scalesInPlace) {
            engine.scale(y, factor);
            return;
        }
        Tensor floats = pool.takeFloats(stream.extent(), microbatch.length());
        engine.cast(y, floats);
        engine.scale(floats, factor);
        engine.cast(floats, y);
        pool.give(floats);
    }

    /**
     * Returns all rows of the gradient for the input of {@link #forward}: the same tensor if nothing is dropped and this
     * rank has all rows, another otherwise.
     *
     * @param dy this rank's gradient of the output, which stays the caller's
     */
    Tensor backward(Tensor dy, double factor, MicrobatchContext microbatch) {
        int length = microbatch.length();
        boolean drops = microbatch.dropoutKey().drops();
        if (!drops && factor == 1) {
            return stream.leaveBackward(dy, false, length);
        }
        Tensor dropped = pool.take(stream.extent(), length);
        if (drops) {
            engine.dropout(dy, dropout(microbatch), dropped);
        } else {
            engine.copy(dy, dropped);
        }
        scale(dropped, factor, microbatch);
        return stream.leaveBackward(dropped, true, length);
    }

    private Dropout dropout(MicrobatchContext microbatch) {
        return microbatch.dropoutKey().ofRows(layer, site, stream.extent().whole().size(1),
                stream.firstRow(microbatch.length()));
    }
}
