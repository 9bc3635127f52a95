package dev.troupe.stage;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.parallel.IndexRange;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Brings token ids from host memory to the engine, and looks at each, since kernels trust them. */
public final class TokenUpload implements AutoCloseable {
    private static final ValueLayout.OfInt TOKEN = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Engine engine;
    private final TensorPool pool;
    private final int stage;
    private final int microbatchSize;
    private final int sequenceLength;
    private final int vocabularySize;
    private final IndexRange ownTokens;
    private final Shape shape;
    // Shared, so that a stage may be closed by another thread than the one that made it.
    private final Arena hostMemory = Arena.ofShared();
    private final MemorySegment hostTokens;

    public TokenUpload(LayerContext context, int stage, int vocabularySize) {
        this.engine = context.engine();
        this.pool = context.pool();
        this.stage = stage;
        this.microbatchSize = context.microbatchSize();
        this.sequenceLength = context.sequenceLength();
        this.vocabularySize = vocabularySize;
        this.ownTokens = IndexRange.share(vocabularySize, context.share().group().rank(),
                context.share().group().size());
        this.shape = Shape.of(context.rows());
        // Where nothing is computed the ids are not looked at, and need no place.
        this.hostTokens = engine.holdsValues() ? hostMemory.allocate(TOKEN, context.rows()) : MemorySegment.NULL;
    }

    /**
     * The ids as a tensor of the pool, INT32 [N]: rows of this rank's share of the vocabulary, or elsewhere. On an engine
     * that does not compute the tensor has no ids, and these are not looked at.
     *
     * @param what
     *            their name in an error
     * @throws IllegalArgumentException
     *             where these are not N ids of the vocabulary
     */
    public Tensor tensor(String what, int[] ids) {
        if (!engine.holdsValues()) {
            return pool.take(DataType.INT32, shape);
        }
        int rows = shape.size(0);
        if (ids == null || ids.length != rows) {
            throw new IllegalArgumentException("stage " + stage + " expects " + rows + " " + what + " a microbatch ("
                    + microbatchSize + " sequences of " + sequenceLength + "), but found "
                    + (ids == null ? "none" : Integer.toString(ids.length)));
        }
        for (int row = 0; row < rows; row++) {
            if (ids[row] < 0 || ids[row] >= vocabularySize) {
                throw new IllegalArgumentException("token ids of this model are 0 to " + (vocabularySize - 1)
                        + ", but found " + ids[row] + " among the " + what + " of stage " + stage
                        + ": take the tokenizer the model was made for, or raise model.vocabulary-size");
            }
            hostTokens.setAtIndex(TOKEN, row,
                    ownTokens.contains(ids[row]) ? ids[row] - ownTokens.first() : Engine.NOT_IN_SHARD);
        }
        Tensor tensor = pool.take(DataType.INT32, shape);
        engine.copyFromHost(hostTokens, tensor, 0);
        return tensor;
    }

    @Override
    public void close() {
        if (hostMemory.scope().isAlive()) {
            hostMemory.close();
        }
    }
}
