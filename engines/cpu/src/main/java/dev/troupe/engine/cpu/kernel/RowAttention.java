package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.Masks;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;

/**
 * The forward of causal attention in which a row has the same bits whatever other rows there are: tiles of keys begin at
 * fixed places of a document, and products have one of two fixed numbers of rows. Keys and values of a head are copied once,
 * so that products always read dense tiles; after the last place there are zeros. Rows are places of one head, or places of
 * neighbouring heads that share keys and values. Letters: T keys, D size of a head.
 *
 * <p>The softmax is online, as of {@link AttentionTiles}, which also has the backward.
 *
 * <p>Thread rule: one thread.
 */
public final class RowAttention {
    /** Keys of a tile: half as many waste less after the last place, and make slower products. */
    public static final int KEYS = 64;
    /** Queries of a tile, and of a tile of few. */
    public static final int QUERIES = 64;
    public static final int FEW_QUERIES = 16;

    private final Sgemm products;
    private final boolean isNarrow;
    private int t;
    private int d;
    private float scale;
    private Dropout dropout;
    private Masks masks;
    private long starts;

    /**
     * Attention of one thread.
     *
     * @param products of operands that are narrow or floats
     */
    RowAttention(Sgemm products, boolean isNarrow) {
        this.products = products;
        this.isNarrow = isNarrow;
    }

    /**
     * Rows of queries with their results.
     *
     * @param first the first element of the first query, and of its result in y
     * @param sharing neighbouring heads of each place
     * @param places rows for each of the heads
     * @param firstPlace the place of the first among T keys
     */
    record Queries(CpuTensor matrix, long from, CpuTensor y, long first, int sharing, int places, int firstPlace) {
        int placeOf(int row) {
            return firstPlace + row / sharing;
        }

        private long element(CpuTensor of, long begin, int row, int d) {
            return begin + (long) (row / sharing) * of.size(1) + (long) (row % sharing) * d;
        }
    }

    /** Sets the common properties of all heads, as of {@link AttentionTiles#serve}. */
    void serve(int length, int size, Dropout drawn, Masks drawnMasks, long documentStarts) {
        t = length;
        d = size;
        scale = (float) (1 / Math.sqrt(size));
        dropout = drawn;
        masks = drawnMasks;
        starts = documentStarts;
    }

    private int bytes() {
        return isNarrow ? Short.BYTES : Float.BYTES;
    }

    /** Bytes of a head's keys or values with the zeros after them. */
    private long headBytes() {
        return whole((long) bytes() * (t + KEYS) * d);
    }

    private long tileBytes() {
        return whole((long) Float.BYTES * QUERIES * d);
    }

    private static long whole(long bytes) {
        return Math.ceilDiv(bytes, Lanes.ALIGNMENT) * Lanes.ALIGNMENT;
    }

    long scratchBytes() {
        return 2 * Lanes.ALIGNMENT + 3L * Float.BYTES * QUERIES + (long) Float.BYTES * QUERIES * KEYS
                + Masks.SCRATCH_BYTES + 2 * headBytes() + 3 * tileBytes();
    }

    /**
     * Computes rows.
     *
     * @param key the first element of the head's keys; likewise of its values
     * @param logSums receives the logarithm of each row's sum of exponentials; 0 for none
     * @param sequence the sequence and the head, by dropout's count
     */
    void forward(Queries queries, CpuTensor keys, long key, CpuTensor values, long value, long logSums, int sequence,
            int head, long scratch) {
        long ownKeys = scratch;
        long ownValues = ownKeys + headBytes();
        copyHead(keys, key, ownKeys);
        copyHead(values, value, ownValues);
        int rows = queries.places * queries.sharing;
        int row = 0;
        while (row < rows) {
            int start = start(sequence, queries.placeOf(row));
            int end = row + 1;
            while (end < Math.min(rows, row + QUERIES) && start(sequence, queries.placeOf(end)) == start) {
                end++;
            }
            tile(queries, row, end - row, start, ownKeys, ownValues, logSums, sequence, head,
                    ownValues + headBytes());
            row = end;
        }
    }

    /** The place at which a row's document begins. */
    private int start(int sequence, int place) {
        return starts == 0 ? 0 : Lanes.getInt(starts, sequence * t + place);
    }

    private void copyHead(CpuTensor from, long first, long to) {
        for (int place = 0; place < t; place++) {
            copyRow(from, first + (long) place * from.size(1), to + (long) bytes() * place * d);
        }
        // Of narrow numbers two are one zero of a float; the head's size is even then.
        RowLoop.fill(to + (long) bytes() * t * d, 0, isNarrow ? KEYS * d / 2 : KEYS * d);
    }

    private void copyRow(CpuTensor from, long element, long to) {
        if (from.isNarrow() && !isNarrow) {
            RowLoop.widen(from.addressOf(element), to, d);
        } else {
            Elements.copyBytes(from.addressOf(element), to, (long) bytes() * d);
        }
    }

    private void tile(Queries queries, int row, int count, int start, long keys, long values, long logSums,
            int sequence, int head, long scratch) {
        long highest = scratch + 2 * Lanes.ALIGNMENT;
        long sums = highest + 4L * QUERIES;
        long shrinks = sums + 4L * QUERIES;
        long scores = shrinks + 4L * QUERIES;
        long wordsMemory = scores + 4L * QUERIES * KEYS;
        long asked = wordsMemory + Masks.SCRATCH_BYTES;
        long product = asked + tileBytes();
        long y = product + tileBytes();
        int size = count > FEW_QUERIES ? QUERIES : FEW_QUERIES;
        for (int i = 0; i < count; i++) {
            copyRow(queries.matrix, queries.element(queries.matrix, queries.from, row + i, d),
                    asked + (long) bytes() * i * d);
        }
        RowLoop.fill(asked + (long) bytes() * count * d, 0, (size - count) * (isNarrow ? d / 2 : d));
        RowLoop.fill(y, 0, count * d);
        RowLoop.fill(highest, Float.NEGATIVE_INFINITY, count);
        RowLoop.fill(sums, 0, count);
        int end = queries.placeOf(row + count - 1) + 1;
        for (int first = start; first < end; first += KEYS) {
            products.multiply(false, true, size, KEYS, d, scale, asked, d, keys + (long) bytes() * first * d, d, 0,
                    scores, KEYS);
            for (int i = 0; i < count; i++) {
                int place = queries.placeOf(row + i);
                long line = scores + 4L * KEYS * i;
                int seen = Math.min(place + 1 - first, KEYS);
                if (seen <= 0) {
                    continue; // its product is not read
                }
                int vectors = Lanes.wholeFor(seen);
                RowLoop.fill(line + 4L * seen, Float.NEGATIVE_INFINITY, vectors - seen);
                float before = Lanes.get(highest, i);
                float now = RowLoop.highest(line, vectors, before, scratch);
                float sum = RowLoop.exponentials(line, now, line, vectors, scratch);
                float shrink = first > start ? (float) Math.exp((double) before - now) : 0;
                Lanes.set(highest, i, now);
                Lanes.set(sums, i, shrink * Lanes.get(sums, i) + sum);
                Lanes.set(shrinks, i, shrink);
                if (masks.drop()) {
                    // The sum includes dropped probabilities; the division by it comes at the end.
                    masks.apply(dropout.placeInAttention(sequence, head, place, t) + first, line, line, seen,
                            wordsMemory);
                }
                if (isNarrow) {
                    RowLoop.narrow(line, line, vectors);
                    RowLoop.fill(line + 2L * vectors, 0, (KEYS - vectors) / 2);
                } else {
                    RowLoop.fill(line + 4L * vectors, 0, KEYS - vectors);
                }
            }
            products.multiply(false, false, size, d, KEYS, 1, scores, isNarrow ? 2 * KEYS : KEYS,
                    values + (long) bytes() * first * d, d, 0, product, d);
            for (int i = 0; i < count; i++) {
                if (queries.placeOf(row + i) >= first) {
                    RowLoop.scaleAndAdd(product + 4L * i * d, Lanes.get(shrinks, i), y + 4L * i * d, d);
                }
            }
        }
        for (int i = 0; i < count; i++) {
            float sum = Lanes.get(sums, i);
            long result = y + 4L * i * d;
            RowLoop.scale(result, 1 / sum, d);
            long element = queries.element(queries.y, queries.first, row + i, d);
            if (queries.y.isNarrow()) {
                RowLoop.narrow(result, queries.y.addressOf(element), d);
            } else {
                Elements.copyBytes(result, queries.y.addressOf(element), 4L * d);
            }
            if (logSums != 0) {
                Lanes.set(logSums, row + i, (float) (Lanes.get(highest, i) + Math.log(sum)));
            }
        }
    }
}
