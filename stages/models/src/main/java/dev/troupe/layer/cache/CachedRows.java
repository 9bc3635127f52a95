package dev.troupe.layer.cache;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.List;

/**
 * The rows of a microbatch that continues texts: some neighbouring places of each, text after text. All rows are in one
 * product, so that weights are read once for all texts; attention, rotary positions and the cache are of each text alone.
 *
 * <p>Letters: N rows of all texts, W width of a block's keys and of its values.
 *
 * <p>Thread rule: as for the engine.
 */
public final class CachedRows {
    private final Engine engine;
    private final List<Text> texts;

    /**
     * The rows of one text.
     *
     * @param cache the keys and values of the places before them
     * @param rows places from the length of the cache on
     */
    public record Text(KeyValueCache cache, int rows) {
    }

    /** A computation on the rows of one text. */
    @FunctionalInterface
    public interface OfText {
        /**
         * Computes some rows.
         *
         * @param first the number of the first row
         * @param place its place in the text
         */
        void compute(int first, int rows, int place);
    }

    public CachedRows(Engine engine, List<Text> texts) {
        this.engine = engine;
        this.texts = List.copyOf(texts);
    }

    /** Returns N. */
    public int count() {
        return texts.stream().mapToInt(Text::rows).sum();
    }

    /** Whether the rows are the beginning of one text, so that they attend to one another alone, as in training. */
    public boolean areBeginning() {
        return texts.size() == 1 && texts.getFirst().cache.length() == 0;
    }

    public void ofEach(OfText computation) {
        int first = 0;
        for (Text text : texts) {
            computation.compute(first, text.rows, text.cache.length());
            first += text.rows;
        }
    }

    /** Returns some rows of a matrix with N rows, or of a vector with N numbers. */
    public Tensor rowsOf(Tensor matrix, int first, int rows) {
        Shape shape = matrix.shape();
        if (rows == shape.size(0)) {
            return matrix;
        }
        boolean isVector = shape.rank() == 1;
        int width = isVector ? 1 : shape.size(1);
        return engine.range(matrix, (long) first * width, isVector ? Shape.of(rows) : Shape.of(rows, width));
    }

    /**
     * Copies the keys and values of all rows to the caches.
     *
     * @param keys [N x W]
     * @param values [N x W]
     * @throws IllegalArgumentException if a cache has fewer places
     */
    public void keep(int block, Tensor keys, Tensor values) {
        int first = 0;
        for (Text text : texts) {
            text.cache.keep(block, rowsOf(keys, first, text.rows), rowsOf(values, first, text.rows));
            first += text.rows;
        }
    }

    /**
     * As {@link #keep}, from a matrix with queries, keys and values next to each other.
     *
     * @param qkv [N x 3W]
     * @param queries [N x W] receives the queries; null if they are not needed
     */
    public void keepOf(int block, Tensor qkv, Tensor queries) {
        int width = qkv.shape().size(1) / 3;
        Shape one = Shape.of(1, width);
        int row = 0;
        for (Text text : texts) {
            for (int i = 0; i < text.rows; i++) {
                long first = 3L * width * row;
                text.cache.keep(block, i, engine.range(qkv, first + width, one),
                        engine.range(qkv, first + 2L * width, one));
                if (queries != null) {
                    engine.copy(engine.range(qkv, first, one), rowsOf(queries, row, 1));
                }
                row++;
            }
        }
    }

    /**
     * Computes the attention of each row to all places of its text up to its own.
     *
     * @param queries [N x all heads]
     */
    public void attend(int block, Tensor queries, int heads, int keyValueHeads, Tensor y) {
        int first = 0;
        for (Text text : texts) {
            text.cache.attend(block, rowsOf(queries, first, text.rows), heads, keyValueHeads,
                    rowsOf(y, first, text.rows));
            first += text.rows;
        }
    }

    /** Adds the rows to the places of each cache, after the forward of all blocks. */
    public void advance() {
        texts.forEach(text -> text.cache.advance(text.rows));
    }
}
