package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.Masks;
import dev.troupe.engine.cpu.loop.RowLoop;

/**
 * Attention of one head of one sequence in tiles of queries and keys, with an online softmax (Milakov and Gimelshein 2018;
 * Dao et al. 2022). Scores exist for one tile at a time. Letters: T sequence length, D size of a head.
 *
 * <p>Operands are floats, or narrow: numbers of bfloat16 for products that sum in floats. Then probabilities and the
 * gradients of scores are rounded in their place as soon as softmax has computed them. Results are floats.
 *
 * <p>Thread rule: one thread. One object serves all heads, so that a call of the kernel leaves no garbage.
 */
final class AttentionTiles {
    /** Queries of a tile of floats. A smaller one wastes less above the diagonal, a larger one makes faster products. */
    private static final int QUERIES = 64;
    /** Queries of a narrow tile: units need more rows than other instructions to reach their speed. */
    private static final int NARROW_QUERIES = 128;
    /** The numbers that units read together of a row of a left side, though fewer may be left: these must be finite. */
    static final int UNIT_DEPTH = 32;
    /** Keys of a tile: enough for one tile a row at usual sequence lengths, few enough for a tile in the cache. */
    static final int KEYS = Masks.MOST;

    private final Sgemm products;
    private final boolean isNarrow;
    /** Queries of a tile. */
    private final int most;
    final Rows queries = new Rows();
    final Rows keys = new Rows();
    final Rows values = new Rows();
    final Rows y = new Rows();
    final Rows dy = new Rows();
    final Rows dQueries = new Rows();
    final Rows dKeys = new Rows();
    final Rows dValues = new Rows();
    private int t;
    private int d;
    private float scale;
    private Dropout dropout;
    private Masks masks;
    private long starts;
    private int sequence;
    private int head;
    private long logSums;
    /** Whether rows are the heads of the last place, instead of the places of one head. */
    private boolean isOfLast;

    /**
     * Tiles of one thread.
     *
     * @param products of operands that are narrow or not
     */
    AttentionTiles(Sgemm products, boolean isNarrow) {
        this.products = products;
        this.isNarrow = isNarrow;
        this.most = isNarrow ? NARROW_QUERIES : QUERIES;
    }

    /** Bytes of two vectors, two numbers for each query of a tile, two tiles, and random words: whole vectors. */
    long scratchBytes() {
        return 2 * Lanes.ALIGNMENT + 8L * most + 8L * most * KEYS + Masks.SCRATCH_BYTES;
    }

    /** A head's elements, a row for each place of a sequence. */
    static final class Rows {
        private long address;
        private long stride;
        private int elementBytes;

        /**
         * The addresses of the rows.
         *
         * @param first address of the first row
         * @param elements the distance from one row to the next
         */
        void lie(long first, long elements, int bytesOfElement) {
            address = first;
            stride = elements;
            elementBytes = bytesOfElement;
        }

        long row(long place) {
            return address + elementBytes * place * stride;
        }
    }

    /**
     * Sets the common properties of all heads.
     *
     * @param documentStarts the address of INT32, for each row the place in its sequence at which its document begins; 0 if
     *     each sequence is one document
     */
    void serve(int length, int size, Dropout drawn, Masks drawnMasks, long documentStarts) {
        t = length;
        d = size;
        scale = (float) (1 / Math.sqrt(size));
        dropout = drawn;
        masks = drawnMasks;
        starts = documentStarts;
    }

    /** Selects a head, by dropout's count, of a sequence, and the address of its T logarithms of sums. */
    void turnTo(int ofSequence, int number, long sums) {
        sequence = ofSequence;
        head = number;
        logSums = sums;
    }

    /** Writes y, and the logarithm of each row's sum of exponentials. */
    void forward(long scratch) {
        forward(t, scratch);
    }

    /** As {@link #forward}, if rows are heads at the last place. */
    void forwardLast(int rows, long scratch) {
        isOfLast = true;
        forward(rows, scratch);
        isOfLast = false;
    }

    private void forward(int rows, long scratch) {
        for (int row = 0; row < rows; row += most) {
            forwardTile(row, Math.min(most, rows - row), scratch);
        }
    }

    /** The place in the sequence of a row of queries. */
    private int placeOf(int row) {
        return isOfLast ? t - 1 : row;
    }

    private void forwardTile(int row, int count, long scratch) {
        long highest = scratch + 2 * Lanes.ALIGNMENT;
        long sums = highest + 4L * most;
        long scores = sums + 4L * most;
        long wordsMemory = scores + 8L * most * KEYS;
        RowLoop.fill(highest, Float.NEGATIVE_INFINITY, count);
        RowLoop.fill(sums, 0, count);
        int end = placeOf(row + count - 1) + 1;
        int lowest = firstTile(placeOf(row));
        for (int first = lowest; first < end; first += KEYS) {
            int width = Math.min(KEYS, end - first);
            int stride = strideOf(width);
            products.multiply(false, true, count, width, d, scale, queries.row(row), queries.stride, keys.row(first),
                    keys.stride, 0, scores, stride);
            for (int i = 0; i < count; i++) {
                long line = scores + 4L * i * stride;
                int place = placeOf(row + i);
                int hidden = start(place) - first;
                if (hidden >= width) {
                    RowLoop.fill(line, 0, stride);
                    continue;
                }
                int vectors = hideUnseen(line, hidden, place + 1 - first, width);
                float before = Lanes.get(highest, i);
                float now = RowLoop.highest(line, vectors, before, scratch);
                float sum = RowLoop.exponentials(line, now, line, vectors, scratch);
                if (first > lowest) {
                    float shrink = (float) Math.exp((double) before - now);
                    sum += shrink * Lanes.get(sums, i);
                    RowLoop.scale(y.row(row + i), shrink, d);
                }
                Lanes.set(highest, i, now);
                Lanes.set(sums, i, sum);
                if (masks.drop()) {
                    // The sum includes dropped probabilities; the division by it comes at the end.
                    masks.apply(place(row + i) + first, line, line, seen(row, i, first, width), wordsMemory);
                }
                finish(line, vectors, stride);
            }
            products.multiply(false, false, count, d, width, 1, scores, operandStride(stride), values.row(first),
                    values.stride,
                    first > lowest ? 1 : 0, y.row(row), y.stride);
        }
        for (int i = 0; i < count; i++) {
            float sum = Lanes.get(sums, i);
            RowLoop.scale(y.row(row + i), 1 / sum, d);
            Lanes.set(logSums, row + i, (float) (Lanes.get(highest, i) + Math.log(sum)));
        }
    }

    /**
     * Writes the gradients for queries, and writes or adds the gradients for keys and values.
     *
     * @param adds whether the latter are added, for heads that share them
     */
    void backward(boolean adds, long scratch) {
        boolean cleared = !adds && starts != 0;
        for (int row = 0; cleared && row < t; row++) {
            RowLoop.fill(dKeys.row(row), 0, d);
            RowLoop.fill(dValues.row(row), 0, d);
        }
        // From the last queries to the first: in one document the last ones see every key, so that they overwrite and the
        // others add.
        for (int row = (t - 1) / most * most; row >= 0; row -= most) {
            int count = Math.min(most, t - row);
            float beta = adds || cleared || row + count < t ? 1 : 0;
            backwardTile(row, count, beta, scratch);
        }
    }

    private void backwardTile(int row, int count, float beta, long scratch) {
        long means = scratch + 2 * Lanes.ALIGNMENT;
        long scores = means + 8L * most;
        long dScores = scores + 4L * most * KEYS;
        long wordsMemory = dScores + 4L * most * KEYS;
        for (int i = 0; i < count; i++) {
            // The mean of a row's dp, weighted by its p, is dy . y.
            long gradient = dy.row(row + i);
            Lanes.set(means, i, isNarrow
                    ? RowLoop.narrowDot(gradient, y.row(row + i), d, scratch)
                    : RowLoop.dot(gradient, y.row(row + i), d, scratch));
        }
        int end = row + count;
        int lowest = firstTile(row);
        for (int first = lowest; first < end; first += KEYS) {
            int width = Math.min(KEYS, end - first);
            int stride = strideOf(width);
            products.multiply(false, true, count, width, d, scale, queries.row(row), queries.stride, keys.row(first),
                    keys.stride, 0, scores, stride);
            products.multiply(false, true, count, width, d, 1, dy.row(row), dy.stride, values.row(first), values.stride,
                    0,
                    dScores, stride);
            for (int i = 0; i < count; i++) {
                long line = 4L * i * stride;
                int hidden = start(row + i) - first;
                if (hidden >= width) {
                    RowLoop.fill(scores + line, 0, stride);
                    RowLoop.fill(dScores + line, 0, stride);
                    continue;
                }
                int vectors = hideUnseen(scores + line, hidden, row + i + 1 - first, width);
                RowLoop.exponentials(scores + line, Lanes.get(logSums, row + i), scores + line, vectors, scratch);
                if (masks.drop()) {
                    int seen = seen(row, i, first, width);
                    long words = masks.words(place(row + i) + first, seen, wordsMemory);
                    masks.apply(words, dScores + line, dScores + line, seen);
                    RowLoop.scoreGradients(scores + line, dScores + line, Lanes.get(means, i), scale, vectors);
                    masks.apply(words, scores + line, scores + line, seen);
                } else {
                    RowLoop.scoreGradients(scores + line, dScores + line, Lanes.get(means, i), scale, vectors);
                }
                finish(scores + line, vectors, stride);
                finish(dScores + line, vectors, stride);
            }
            int rowStride = operandStride(stride);
            products.multiply(false, false, count, d, width, 1, dScores, rowStride, keys.row(first), keys.stride,
                    first > lowest ? 1 : 0, dQueries.row(row), dQueries.stride);
            products.multiply(true, false, width, d, count, 1, dScores, rowStride, queries.row(row), queries.stride,
                    beta,
                    dKeys.row(first), dKeys.stride);
            products.multiply(true, false, width, d, count, 1, scores, rowStride, dy.row(row), dy.stride, beta,
                    dValues.row(first), dValues.stride);
        }
    }

    /** The place of a query's first probability among all heads' probabilities. */
    private long place(int query) {
        return dropout.placeInAttention(sequence, head, query, t);
    }

    /** The place at which a query's document begins. */
    private int start(int query) {
        return starts == 0 ? 0 : Lanes.getInt(starts, sequence * t + query);
    }

    /** The first tile of keys that this query or a later one sees; beginnings of documents ascend. */
    private int firstTile(int query) {
        return start(query) / KEYS * KEYS;
    }

    /** The number of keys of a tile up to the query's own place. */
    private static int seen(int row, int query, int firstKey, int width) {
        return Math.clamp(row + query + 1 - firstKey, 0, width);
    }

    /**
     * Hides from a query the keys before its document and after its own place: their scores become minus infinity up to the
     * end of a vector. Returns the number of scores in whole vectors.
     */
    private static int hideUnseen(long line, int hidden, int seen, int width) {
        if (hidden > 0) {
            RowLoop.fill(line, Float.NEGATIVE_INFINITY, hidden);
        }
        int from = Math.min(seen, width);
        int vectors = Lanes.wholeFor(from);
        RowLoop.fill(line + 4L * from, Float.NEGATIVE_INFINITY, vectors - from);
        return vectors;
    }

    /** Makes a row of results of softmax an operand of a product: rounded if it is narrow, and zero for the other keys. */
    private void finish(long line, int vectors, int stride) {
        if (isNarrow) {
            RowLoop.narrow(line, line, vectors);
            int end = Math.ceilDiv(stride, UNIT_DEPTH) * UNIT_DEPTH;
            RowLoop.fill(line + 2L * vectors, 0, (end - vectors) / 2);
        } else {
            RowLoop.fill(line + 4L * vectors, 0, stride - vectors);
        }
    }

    /** The floats from one row of a tile of this width to the next: whole vectors. */
    private int strideOf(int width) {
        return Math.max(Lanes.wholeFor(width), isNarrow ? UNIT_DEPTH / 2 : 0);
    }

    /** The elements from one row of an operand to the next, of rows at a distance of some floats. */
    private int operandStride(int floats) {
        return isNarrow ? 2 * floats : floats;
    }
}
