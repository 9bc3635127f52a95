package dev.troupe.layer;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;

/**
 * The dropout of addends of the residual stream: at the embedding, and at the end of a half of a block. The mask of an
 * element is the same whether a rank has all rows or only some.
 */
final class StreamDropout {
    private final Engine engine;
    private final TensorPool pool;
    private final ResidualStream stream;
    private final int layer;
    private final DropoutKey.Site site;

    StreamDropout(LayerContext context, ResidualStream stream, int layer, DropoutKey.Site site) {
        this.engine = context.engine();
        this.pool = context.pool();
        this.stream = stream;
        this.layer = layer;
        this.site = site;
    }

    /** Drops elements of this rank's rows, in place. */
    void forward(Tensor y, MicrobatchContext microbatch) {
        if (microbatch.dropoutKey().drops()) {
            engine.dropout(y, dropout(microbatch), y);
        }
    }

    /**
     * Returns all rows of the gradient for the input of {@link #forward}: the same tensor if nothing is dropped and this
     * rank has all rows, another otherwise.
     *
     * @param dy this rank's gradient of the output, which stays the caller's
     */
    Tensor backward(Tensor dy, MicrobatchContext microbatch) {
        int length = microbatch.length();
        if (!microbatch.dropoutKey().drops()) {
            return stream.whole(dy, length);
        }
        Tensor dropped = pool.take(stream.extent(), length);
        engine.dropout(dy, dropout(microbatch), dropped);
        return stream.intoWhole(dropped, length);
    }

    private Dropout dropout(MicrobatchContext microbatch) {
        return microbatch.dropoutKey().ofRows(layer, site, stream.extent().whole().size(1),
                stream.firstRow(microbatch.length()));
    }
}
