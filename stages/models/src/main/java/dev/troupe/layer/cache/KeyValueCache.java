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
    void advance(int rows) {
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
    void keep(int block, Tensor keys, Tensor values) {
        keep(block, 0, keys, values);
    }

    /** As {@link #keep}, some places later. */
    void keep(int block, int later, Tensor keys, Tensor values) {
        Rows rows = rows(block, keys.shape().size(1));
        engine.copy(keys, placesOf(rows.keys, length + later, keys.shape()));
        engine.copy(values, placesOf(rows.values, length + later, values.shape()));
    }

    /**
     * Computes the attention of the block's last rows, which are kept but not counted yet, to all places up to their own.
     *
     * @param queries [rows x all heads]
     */
    void attend(int block, Tensor queries, int heads, int keyValueHeads, Tensor y) {
        Rows rows = blocks.get(block);
        engine.cachedAttention(queries, rows.keys, rows.values, length + queries.shape().size(0), heads,
                keyValueHeads, y);
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
