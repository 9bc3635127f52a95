package dev.troupe.layer.cache;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.HashMap;
import java.util.Map;

/**
 * The cache of a text's keys and values in each block, so that the next token costs a forward of one row. A block's tensors
 * are allocated for all places when its first rows arrive.
 *
 * <p>Letters: P places, W width of a block's keys and of its values.
 *
 * <p>Thread rule: as for the engine.
 */
public final class KeyValueCache implements AutoCloseable {
    private final Engine engine;
    private final int places;
    private final Map<Integer, Rows> blocks = new HashMap<>();
    private int length;

    /**
     * Keys and values of one block.
     *
     * @param keys [P x W]
     * @param values [P x W]
     */
    private record Rows(Tensor keys, Tensor values) {
    }

    /**
     * @param places P, the most places of a text
     */
    public KeyValueCache(Engine engine, int places) {
        this.engine = engine;
        this.places = places;
    }

    /** Returns the number of places before the forward in progress. */
    public int length() {
        return length;
    }

    /** Adds {@code rows} places, with keys and values of all blocks. */
    public void advance(int rows) {
        length += rows;
    }

    public void clear() {
        length = 0;
    }

    /**
     * Copies the keys and values of neighbouring places, from {@link #length} on.
     *
     * @param keys [rows x W]
     * @param values [rows x W]
     * @throws IllegalArgumentException if there are fewer places
     */
    public void keep(int block, Tensor keys, Tensor values) {
        Rows rows = rows(block, keys.shape().size(1));
        engine.copy(keys, placesOf(rows.keys, length, keys.shape()));
        engine.copy(values, placesOf(rows.values, length, values.shape()));
    }

    /**
     * As {@link #keep}, from a matrix with queries, keys and values next to each other.
     * @param qkv [rows x 3W]
     */
    public void keepOf(int block, Tensor qkv) {
        int width = qkv.shape().size(1) / 3;
        Rows rows = rows(block, width);
        Shape row = Shape.of(1, width);
        for (int i = 0; i < qkv.shape().size(0); i++) {
            long first = 3L * width * i;
            engine.copy(engine.range(qkv, first + width, row), placesOf(rows.keys, length + i, row));
            engine.copy(engine.range(qkv, first + 2L * width, row), placesOf(rows.values, length + i, row));
        }
    }

    /**
     * Computes the attention of the block's last row to all of its places.
     *
     * @param query [1 x all heads]
     */
    public void attend(int block, Tensor query, int heads, int keyValueHeads, Tensor y) {
        Rows rows = blocks.get(block);
        engine.cachedAttention(query, rows.keys, rows.values, length + 1, heads, keyValueHeads, y);
    }

    private Rows rows(int block, int width) {
        return blocks.computeIfAbsent(block, _ -> {
            Shape shape = Shape.of(places, width);
            return new Rows(engine.allocate(engine.computeType(), shape),
                    engine.allocate(engine.computeType(), shape));
        });
    }

    @Override
    public void close() {
        blocks.values().forEach(rows -> {
            rows.keys.close();
            rows.values.close();
        });
        blocks.clear();
    }

    private Tensor placesOf(Tensor rows, int first, Shape shape) {
        return engine.range(rows, (long) first * shape.size(1), shape);
    }
}
