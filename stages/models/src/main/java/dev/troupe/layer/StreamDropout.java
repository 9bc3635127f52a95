package dev.troupe.layer;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;

/**
 * Dropout of what flows into the residual stream: at the embedding, and at the end of a half of a block before it is added
 * to what passed by. A rank that has some rows of the stream drops of them what a rank with all rows would.
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

    /** Drops out of what this rank has, in place. */
    void forward(Tensor y, MicrobatchContext microbatch) {
        if (microbatch.dropoutKey().drops()) {
            engine.dropout(y, dropout(microbatch), y);
        }
    }

    /**
     * All rows of the gradient for what went into {@link #forward}: the same tensor if nothing drops out and this rank
     * has all rows, another otherwise.
     *
     * @param dy the gradient of the output, as this rank has it; it stays the caller's
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
