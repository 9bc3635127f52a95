package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.cpu.library.OneDnn;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.Masks;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;

/**
 * Causal attention of all heads (Vaswani et al. 2017, section 3.2) in tiles of queries and keys, with the softmax of a
 * row carried on from tile to tile (Milakov and Gimelshein 2018; Dao et al. 2022). Letters: B microbatch size, T
 * sequence length, H heads, C hidden size, D = C / H size of a head.
 *
 * <p>A row of qkv [N x 3C] holds query, key and value; head h has columns h D .. (h+1) D of each. Kept for the backward:
 * the logarithm of each row's sum of exponentials [B x H x T], from which the probabilities are computed again. Scores
 * only ever exist for one tile of one head.
 *
 * <p>Of bfloat16, a head is widened to floats once, and what is computed of it is rounded once: its products read each
 * number many times, and in floats they keep what lies between.
 */
public final class CausalAttention {
    /** Queries of a tile. Smaller wastes less above the diagonal, larger makes better products. */
    static final int QUERIES = 64;
    /** Keys of a tile: so many that sequences of usual length have one tile a row, so few that it stays in the cache. */
    static final int KEYS = Masks.MOST;
    /** Bytes of two vectors, two numbers for each query of a tile, two tiles, and words: whole vectors. */
    private static final long TILE_BYTES = 2 * Lanes.ALIGNMENT + 8L * QUERIES + 8L * QUERIES * KEYS
            + Masks.SCRATCH_BYTES;

    private final int t;
    private final int heads;
    /** Columns of y as it is given: C, or D where a head is widened. */
    private final int c;
    private final int d;
    private final float scale;
    private final Dropout dropout;
    private final Masks masks;

    public CausalAttention(int t, int heads, int c, Dropout dropout) {
        this(t, heads, c, c / heads, dropout);
    }

    private CausalAttention(int t, int heads, int c, int d, Dropout dropout) {
        this.t = t;
        this.heads = heads;
        this.c = c;
        this.d = d;
        this.scale = (float) (1 / Math.sqrt(d));
        this.dropout = dropout;
        this.masks = new Masks(dropout);
    }

    /** Bytes of scratch memory for one thread. */
    public long scratchBytes(boolean isNarrow) {
        return TILE_BYTES + (isNarrow ? 2 * widenedBytes(1) + 2 * widenedBytes(3) : 0);
    }

    /** One head of one sequence, {@code unit = sequence H + head}: writes its columns of y, and its row of logSums. */
    public void forward(CpuTensor qkv, long logSums, CpuTensor y, int unit, long scratch) {
        if (!y.isNarrow()) {
            forward(qkv.addressOf(first(unit, 3)), logSums, y.addressOf(first(unit, 1)), unit, scratch);
            return;
        }
        long wideQkv = scratch + TILE_BYTES;
        long wideY = wideQkv + widenedBytes(3);
        widen(qkv, unit, 3, wideQkv);
        new CausalAttention(t, heads, d, d, dropout).forward(wideQkv, logSums, wideY, unit, scratch);
        narrow(wideY, y, unit, 1);
    }

    private void forward(long query, long logSums, long out, int unit, long scratch) {
        for (int row = 0; row < t; row += QUERIES) {
            int queries = Math.min(QUERIES, t - row);
            forwardTile(query + 12L * row * c, query + 4L * c, row, queries, logSums + 4L * ((long) unit * t + row),
                    out + 4L * row * c, place(unit, row), scratch);
        }
    }

    private void forwardTile(long query, long keys, int row, int queries, long logSums, long y,
            long place, long scratch) {
        long highest = scratch + 2 * Lanes.ALIGNMENT;
        long sums = highest + 4L * QUERIES;
        long scores = sums + 4L * QUERIES;
        long wordsMemory = scores + 8L * QUERIES * KEYS;
        RowLoop.fill(highest, Float.NEGATIVE_INFINITY, queries);
        RowLoop.fill(sums, 0, queries);
        int end = row + queries;
        for (int first = 0; first < end; first += KEYS) {
            int width = Math.min(KEYS, end - first);
            int stride = Lanes.wholeFor(width);
            long key = keys + 12L * first * c;
            OneDnn.sgemm(false, true, queries, width, d, scale, query, 3L * c, key, 3L * c, 0, scores, stride);
            for (int i = 0; i < queries; i++) {
                long line = scores + 4L * i * stride;
                int vectors = hideUnseen(line, row + i + 1 - first, width, stride);
                float before = Lanes.get(highest, i);
                float now = RowLoop.highest(line, vectors, before, scratch);
                float sum = RowLoop.exponentials(line, now, line, vectors, scratch);
                if (first > 0) {
                    float shrink = (float) Math.exp((double) before - now);
                    sum += shrink * Lanes.get(sums, i);
                    RowLoop.scale(y + 4L * i * c, shrink, d);
                }
                Lanes.set(highest, i, now);
                Lanes.set(sums, i, sum);
                if (masks.drop()) {
                    // The sum is that of all, and is divided by at the end.
                    masks.apply(place + (long) i * t + first, line, line, seen(row, i, first, width), wordsMemory);
                }
            }
            OneDnn.sgemm(false, false, queries, d, width, 1, scores, stride, key + 4L * c, 3L * c, first > 0 ? 1 : 0, y,
                    c);
        }
        for (int i = 0; i < queries; i++) {
            float sum = Lanes.get(sums, i);
            RowLoop.scale(y + 4L * i * c, 1 / sum, d);
            Lanes.set(logSums, i, (float) (Lanes.get(highest, i) + Math.log(sum)));
        }
    }

    /** One head of one sequence: writes its columns of dQkv. */
    public void backward(CpuTensor dy, CpuTensor qkv, CpuTensor y, long logSums, CpuTensor dQkv, int unit,
            long scratch) {
        if (!dy.isNarrow()) {
            long at = first(unit, 1);
            long at3 = first(unit, 3);
            backward(dy.addressOf(at), qkv.addressOf(at3), y.addressOf(at), logSums, dQkv.addressOf(at3), unit,
                    scratch);
            return;
        }
        long wideQkv = scratch + TILE_BYTES;
        long wideY = wideQkv + widenedBytes(3);
        long wideDy = wideY + widenedBytes(1);
        long wideDQkv = wideDy + widenedBytes(1);
        widen(qkv, unit, 3, wideQkv);
        widen(y, unit, 1, wideY);
        widen(dy, unit, 1, wideDy);
        new CausalAttention(t, heads, d, d, dropout).backward(wideDy, wideQkv, wideY, logSums, wideDQkv, unit, scratch);
        narrow(wideDQkv, dQkv, unit, 3);
    }

    private void backward(long dy, long qkv, long y, long logSums, long dQkv, int unit, long scratch) {
        // From the last queries to the first: they see every key, so that they can overwrite what the others add to.
        for (int row = (t - 1) / QUERIES * QUERIES; row >= 0; row -= QUERIES) {
            int queries = Math.min(QUERIES, t - row);
            long rowAt = 4L * row * c;
            backwardTile(dy + rowAt, y + rowAt, qkv, dQkv, row, queries,
                    logSums + 4L * ((long) unit * t + row), place(unit, row), scratch);
        }
    }

    private void backwardTile(long dy, long y, long qkv, long dQkv, int row, int queries, long logSums,
            long place, long scratch) {
        long means = scratch + 2 * Lanes.ALIGNMENT;
        long scores = means + 8L * QUERIES;
        long dScores = scores + 4L * QUERIES * KEYS;
        long wordsMemory = dScores + 4L * QUERIES * KEYS;
        for (int i = 0; i < queries; i++) {
            // The mean of a row's dp weighted by its p, which is dy . y.
            Lanes.set(means, i, RowLoop.dot(dy + 4L * i * c, y + 4L * i * c, d, scratch));
        }
        long query = qkv + 12L * row * c;
        int end = row + queries;
        float beta = end == t ? 0 : 1;
        for (int first = 0; first < end; first += KEYS) {
            int width = Math.min(KEYS, end - first);
            int stride = Lanes.wholeFor(width);
            long keyAt = 12L * first * c + 4L * c;
            long key = qkv + keyAt;
            long value = key + 4L * c;
            OneDnn.sgemm(false, true, queries, width, d, scale, query, 3L * c, key, 3L * c, 0, scores, stride);
            OneDnn.sgemm(false, true, queries, width, d, 1, dy, c, value, 3L * c, 0, dScores, stride);
            for (int i = 0; i < queries; i++) {
                long line = 4L * i * stride;
                int vectors = hideUnseen(scores + line, row + i + 1 - first, width, stride);
                RowLoop.exponentials(scores + line, Lanes.get(logSums, i), scores + line, vectors, scratch);
                if (masks.drop()) {
                    int seen = seen(row, i, first, width);
                    long words = masks.words(place + (long) i * t + first, seen, wordsMemory);
                    masks.apply(words, dScores + line, dScores + line, seen);
                    RowLoop.scoreGradients(scores + line, dScores + line, Lanes.get(means, i), scale, vectors);
                    masks.apply(words, scores + line, scores + line, seen);
                } else {
                    RowLoop.scoreGradients(scores + line, dScores + line, Lanes.get(means, i), scale, vectors);
                }
                RowLoop.fill(dScores + line + 4L * vectors, 0, stride - vectors);
            }
            OneDnn.sgemm(false, false, queries, d, width, 1, dScores, stride, key, 3L * c, first > 0 ? 1 : 0,
                    dQkv + 12L * row * c, 3L * c);
            OneDnn.sgemm(true, false, width, d, queries, 1, dScores, stride, query, 3L * c, beta, dQkv + keyAt,
                    3L * c);
            OneDnn.sgemm(true, false, width, d, queries, 1, scores, stride, dy, c, beta, dQkv + keyAt + 4L * c, 3L * c);
        }
    }

    /** The place of a unit's first probability of a query among those of all heads. */
    private long place(int unit, int query) {
        return dropout.placeInAttention(unit / heads, unit % heads, query, t);
    }

    /** How many keys of a tile the query sees. */
    private static int seen(int row, int query, int firstKey, int width) {
        return Math.clamp(row + query + 1 - firstKey, 0, width);
    }

    /**
     * Hides from a query the keys after its own: sets their scores to minus infinity up to the end of a vector, and from
     * there to zero, which is what the exponentials of the others become. Returns how many scores whole vectors hold.
     */
    private static int hideUnseen(long line, int seen, int width, int stride) {
        int from = Math.min(seen, width);
        int vectors = Lanes.wholeFor(from);
        RowLoop.fill(line + 4L * from, Float.NEGATIVE_INFINITY, vectors - from);
        RowLoop.fill(line + 4L * vectors, 0, stride - vectors);
        return vectors;
    }

    /** The first element of a head in a matrix with so many times C columns. */
    private long first(int unit, int widths) {
        int sequence = unit / heads;
        int head = unit % heads;
        return (long) sequence * t * widths * c + (long) head * d;
    }

    /** Bytes of a head's floats, rounded up to whole vectors. */
    private long widenedBytes(int widths) {
        return 4L * Math.ceilDiv((long) t * widths * d, Lanes.COUNT) * Lanes.COUNT;
    }

    /** The columns of a head, side by side. */
    private void widen(CpuTensor matrix, int unit, int widths, long floats) {
        for (long i = 0; i < (long) t * widths; i++) {
            RowLoop.widen(matrix.addressOf(first(unit, widths) + i * c), floats + 4 * i * d, d);
        }
    }

    private void narrow(long floats, CpuTensor matrix, int unit, int widths) {
        for (long i = 0; i < (long) t * widths; i++) {
            RowLoop.narrow(floats + 4 * i * d, matrix.addressOf(first(unit, widths) + i * c), d);
        }
    }
}
