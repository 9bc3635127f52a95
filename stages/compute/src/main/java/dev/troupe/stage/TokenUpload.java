package dev.troupe.stage;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.parallel.IndexRange;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.IntUnaryOperator;

/** The upload of token ids, targets and documents' starts from host memory to the engine, which checks each id. */
public final class TokenUpload implements AutoCloseable {
    private static final ValueLayout.OfInt TOKEN = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Engine engine;
    private final TensorPool pool;
    private final int stage;
    private final int microbatchSize;
    private final int vocabularySize;
    private final IndexRange embedded;
    private final IndexRange predicted;
    private final TensorPool.Extent extent;
    // Shared, so that another thread than the creator may close the stage.
    private final Arena hostMemory = Arena.ofShared();
    private final MemorySegment hostTokens;

    /** Creates the upload for a stage that embeds and predicts every token of the vocabulary. */
    public TokenUpload(LayerContext context, int stage, int vocabularySize) {
        this(context, stage, vocabularySize, null, null);
    }

    /**
     * Creates the upload for one rank's share of a stage.
     *
     * @param embedding the rank's rows of the table of the embedding; null for all
     * @param head the rank's rows of the table of the head; null for all
     */
    TokenUpload(LayerContext context, int stage, int vocabularySize, Parameter embedding, Parameter head) {
        this.engine = context.engine();
        this.pool = context.pool();
        this.stage = stage;
        this.microbatchSize = context.microbatchSize();
        this.vocabularySize = vocabularySize;
        this.embedded = rows(embedding);
        this.predicted = rows(head);
        this.extent = context.perRow(1);
        // An engine without values reads no ids, so that they need no memory.
        this.hostTokens = engine.holdsValues() ? hostMemory.allocate(TOKEN, context.rows()) : MemorySegment.NULL;
    }

    private IndexRange rows(Parameter table) {
        return table == null ? new IndexRange(0, vocabularySize) : table.slice().ranges().getFirst();
    }

    public int lengthOf(MicrobatchRows rows) {
        return extent.lengthOf(rows.tokenCount());
    }

    /**
     * Returns token ids as a tensor of the pool, INT32 [N], N = B T, T the microbatch's length: rows in this rank's shard of
     * the vocabulary, or {@code NOT_IN_SHARD}. An engine without values reads no ids, here and in the next methods.
     *
     * @param ids the first N are read
     * @param length T
     * @throws IllegalArgumentException if these are not N ids of the vocabulary
     */
    public Tensor tokens(int[] ids, int length) {
        return tensor("tokens", ids, length, id -> shared("tokens", id, embedded));
    }

    /**
     * Returns targets, as {@link #tokens}; one that does not count is {@link Engine#NOT_COUNTED} on every rank.
     *
     * @throws IllegalArgumentException if these are not N ids of the vocabulary or not counted
     */
    public Tensor targets(int[] ids, int length) {
        return tensor("targets", ids, length, id -> id == Engine.NOT_COUNTED ? id : shared("targets", id, predicted));
    }

    /**
     * Returns the place in its sequence at which each row's document begins, INT32 [N].
     *
     * @throws IllegalArgumentException if these are not N numbers
     */
    public Tensor starts(int[] starts, int length) {
        return tensor("starts", starts, length, start -> start);
    }

    private Tensor tensor(String what, int[] numbers, int length, IntUnaryOperator checked) {
        if (!engine.holdsValues()) {
            return pool.take(DataType.INT32, extent, length);
        }
        int rows = extent.of(length).size(0);
        if (numbers == null || numbers.length < rows) {
            throw new IllegalArgumentException("stage " + stage + " expects " + rows + " " + what + " a microbatch ("
                    + microbatchSize + " sequences of " + length + "), but found "
                    + (numbers == null ? "none" : Integer.toString(numbers.length)));
        }
        for (int row = 0; row < rows; row++) {
            hostTokens.setAtIndex(TOKEN, row, checked.applyAsInt(numbers[row]));
        }
        Tensor tensor = pool.take(DataType.INT32, extent, length);
        engine.copyFromHost(hostTokens.asSlice(0, tensor.byteCount()), tensor, 0);
        return tensor;
    }

    private int shared(String what, int id, IndexRange own) {
        if (id < 0 || id >= vocabularySize) {
            throw new IllegalArgumentException("token ids of this model are 0 to " + (vocabularySize - 1)
                    + ", but found " + id + " among the " + what + " of stage " + stage
                    + ": take the tokenizer the model was made for, or raise model.vocabulary-size");
        }
        return own.contains(id) ? id - own.first() : Engine.NOT_IN_SHARD;
    }

    @Override
    public void close() {
        if (hostMemory.scope().isAlive()) {
            hostMemory.close();
        }
    }
}
