package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.cpu.kernel.AttentionTiles.Rows;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.Masks;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Causal attention of all heads (Vaswani et al. 2017, section 3.2); heads may share keys and values (Ainslie et al. 2023).
 * Letters: B microbatch size, T sequence length, H heads, K heads with keys and values, D size of a head.
 *
 * <p>The state for the backward is the logarithm of each row's sum of exponentials [B x H x T], from which probabilities are
 * computed again.
 *
 * <p>On units of bfloat16 products read heads of bfloat16 in their place, and sum in floats; without units a head is widened
 * to floats once. Either way results are rounded once. The last place alone is always computed in floats: its number of
 * keys grows with each token, and units need a primitive for each number.
 *
 * <p>Thread rule: {@link #of} on the thread that calls kernels; then each thread with its own number.
 */
public final class CausalAttention {
    private int t;
    private int heads;
    private int d;
    /** H/K, the number of heads that share keys and values. */
    private int sharing;
    private final AttentionTiles[] tiles;
    /** For heads of bfloat16 on units; empty without units. */
    private final AttentionTiles[] narrowTiles;
    /** For the forward of exact rows, and for several rows after cached ones; likewise of heads of bfloat16 on units. */
    private final RowAttention[] rows;
    private final RowAttention[] narrowRows;
    private final boolean exactRows;

    /**
     * Neighbouring heads in a matrix [N x columns].
     *
     * @param first the first column of the first head
     */
    public record Heads(CpuTensor matrix, int first) {
    }

    /** Queries, keys and values, or the gradients for them. */
    public record Operands(Heads queries, Heads keys, Heads values) {
        /** Three parts of a matrix [N x 3 H D]. */
        public static Operands packed(CpuTensor qkv) {
            int c = qkv.size(1) / 3;
            return new Operands(new Heads(qkv, 0), new Heads(qkv, c), new Heads(qkv, 2 * c));
        }

        public static Operands apart(CpuTensor queries, CpuTensor keys, CpuTensor values) {
            return new Operands(new Heads(queries, 0), new Heads(keys, 0), new Heads(values, 0));
        }
    }

    /**
     * Attention by members of a pool.
     *
     * @param products of floats
     * @param rowProducts for each member its products of floats of a fixed number of rows
     * @param narrowProducts for each member its products of bfloat16; none without units
     * @param exactRows whether a row has the same bits whatever other rows there are
     */
    public CausalAttention(int threads, Sgemm products, List<? extends Sgemm> rowProducts,
            List<? extends Sgemm> narrowProducts, boolean exactRows) {
        this.exactRows = exactRows;
        rows = rowProducts.stream().map(own -> new RowAttention(own, false)).toArray(RowAttention[]::new);
        narrowRows = narrowProducts.stream().map(own -> new RowAttention(own, true)).toArray(RowAttention[]::new);
        tiles = IntStream.range(0, threads).mapToObj(_ -> new AttentionTiles(products, false))
                .toArray(AttentionTiles[]::new);
        narrowTiles = narrowProducts.stream().map(own -> new AttentionTiles(own, true)).toArray(AttentionTiles[]::new);
    }

    /**
     * Sets the sizes and the dropout of the next calls.
     *
     * @param documentStarts the address of INT32 with the beginning of each row's document; 0 if each sequence is one
     */
    public void of(int length, int headCount, int keyValueHeads, int size, Dropout dropout,
            long documentStarts) {
        t = length;
        heads = headCount;
        d = size;
        sharing = headCount / keyValueHeads;
        Masks masks = new Masks(dropout);
        for (AttentionTiles some : tiles) {
            some.serve(length, size, dropout, masks, documentStarts);
        }
        for (AttentionTiles some : narrowTiles) {
            some.serve(length, size, dropout, masks, documentStarts);
        }
        for (RowAttention some : rows) {
            some.serve(length, size, dropout, masks, documentStarts);
        }
        for (RowAttention some : narrowRows) {
            some.serve(length, size, dropout, masks, documentStarts);
        }
    }

    /** Bytes of the scratch memory of {@link #forward}. */
    public long forwardScratchBytes(boolean isNarrow) {
        return exactRows ? rowsFor(isNarrow)[0].scratchBytes() : scratchBytes(isNarrow);
    }

    private RowAttention[] rowsFor(boolean isNarrow) {
        return isNarrow && isOnUnits() ? narrowRows : rows;
    }

    public long scratchBytes(boolean isNarrow) {
        if (isNarrow && isOnUnits()) {
            return narrowTiles[0].scratchBytes() + 3 * widenedBytes(1);
        }
        return tiles[0].scratchBytes() + (isNarrow ? 2 * widenedBytes(1) + 2 * widenedBytes(3) : 0);
    }

    /** Whether products of narrow heads are computed on units. Of other sizes units may read numbers after a head. */
    private boolean isOnUnits() {
        return narrowTiles.length > 0 && d % AttentionTiles.UNIT_DEPTH == 0;
    }

    /** Returns the number of calls that {@link #backward} needs for the rows of a microbatch. */
    public int backwardUnits(int rows) {
        return rows / t * heads / sharing;
    }

    /**
     * Computes one head of one sequence, {@code unit = sequence H + head}: its columns of y, and its row of logSums.
     */
    public void forward(Operands of, long logSums, CpuTensor y, int unit, int member, long scratch) {
        int sequence = unit / heads;
        int head = unit % heads;
        if (exactRows) {
            CpuTensor q = of.queries.matrix;
            CpuTensor k = of.keys.matrix;
            CpuTensor v = of.values.matrix;
            rowsFor(y.isNarrow())[member].forward(
                    new RowAttention.Queries(q, first(q, of.queries.first, sequence, head), y,
                            first(y, 0, sequence, head), 1, t, 0),
                    k, first(k, of.keys.first, sequence, head / sharing), v,
                    first(v, of.values.first, sequence, head / sharing),
                    logSums + 4L * t * ((long) sequence * heads + head), sequence, head, scratch);
            return;
        }
        if (y.isNarrow() && !isOnUnits()) {
            forwardWidened(of, logSums, y, sequence, head, member, scratch);
            return;
        }
        AttentionTiles own = turned(y.isNarrow() ? narrowTiles : tiles, logSums, sequence, head, member);
        lie(own.queries, of.queries.matrix, of.queries.first, sequence, head);
        lie(own.keys, of.keys.matrix, of.keys.first, sequence, head / sharing);
        lie(own.values, of.values.matrix, of.values.first, sequence, head / sharing);
        lieAsFloats(own.y, y, 0, sequence, head, scratch + own.scratchBytes());
        own.forward(scratch);
        written(own.y, y, 0, sequence, head);
    }

    private void forwardWidened(Operands of, long logSums, CpuTensor y, int sequence, int head, int member,
            long scratch) {
        AttentionTiles own = turned(tiles, logSums, sequence, head, member);
        long wide = scratch + own.scratchBytes();
        lieSideBySide(own.queries, own.keys, own.values, wide);
        own.y.lie(wide + widenedBytes(3), d, Float.BYTES);
        widen(of.queries.matrix, of.queries.first, sequence, head, own.queries);
        widen(of.keys.matrix, of.keys.first, sequence, head / sharing, own.keys);
        widen(of.values.matrix, of.values.first, sequence, head / sharing, own.values);
        own.forward(scratch);
        written(own.y, y, 0, sequence, head);
    }

    public long lastScratchBytes(boolean isNarrow, int places) {
        if (exactRows || places > 1) {
            return rowsFor(isNarrow)[0].scratchBytes();
        }
        long sums = wholeFloats(sharing);
        return tiles[0].scratchBytes() + sums
                + (isNarrow ? 2 * widenedBytes(1) + 2 * wholeFloats((long) sharing * d) : 0);
    }

    /**
     * Computes all heads of one group of shared keys and values at the last of T places, with a row of queries for each:
     * their columns of y.
     */
    public void last(Operands of, CpuTensor y, int shared, int member, long scratch) {
        int places = y.size(0);
        if (exactRows || places > 1) {
            long query = (long) shared * sharing * d;
            rowsFor(y.isNarrow())[member].forward(
                    new RowAttention.Queries(of.queries.matrix, query, y, query, sharing, places, t - places),
                    of.keys.matrix, (long) shared * d, of.values.matrix, (long) shared * d, 0, 0, 0, scratch);
            return;
        }
        AttentionTiles own = tiles[member];
        long logSums = scratch + own.scratchBytes();
        own.turnTo(0, shared * sharing, logSums);
        long first = (long) shared * sharing * d;
        if (!y.isNarrow()) {
            own.queries.lie(of.queries.matrix.addressOf(first), d, Float.BYTES);
            lie(own.keys, of.keys.matrix, 0, 0, shared);
            lie(own.values, of.values.matrix, 0, 0, shared);
            own.y.lie(y.addressOf(first), d, Float.BYTES);
            own.forwardLast(sharing, scratch);
            return;
        }
        long wideKeys = logSums + wholeFloats(sharing);
        long wideValues = wideKeys + widenedBytes(1);
        long wideQueries = wideValues + widenedBytes(1);
        own.keys.lie(wideKeys, d, Float.BYTES);
        own.values.lie(wideValues, d, Float.BYTES);
        own.queries.lie(wideQueries, d, Float.BYTES);
        own.y.lie(wideQueries + wholeFloats((long) sharing * d), d, Float.BYTES);
        widen(of.keys.matrix, 0, 0, shared, own.keys);
        widen(of.values.matrix, 0, 0, shared, own.values);
        RowLoop.widen(of.queries.matrix.addressOf(first), own.queries.row(0), sharing * d);
        own.forwardLast(sharing, scratch);
        RowLoop.narrow(own.y.row(0), y.addressOf(first), sharing * d);
    }

    /**
     * Computes all heads of one group of shared keys and values in one sequence, {@code unit = sequence K + group}: their
     * columns of the gradients.
     */
    public void backward(CpuTensor dy, Operands of, CpuTensor y, long logSums, Operands gradients, int unit, int member,
            long scratch) {
        int sequence = unit / (heads / sharing);
        int shared = unit % (heads / sharing);
        if (dy.isNarrow() && !isOnUnits()) {
            backwardWidened(dy, of, y, logSums, gradients, sequence, shared, member, scratch);
            return;
        }
        AttentionTiles[] all = dy.isNarrow() ? narrowTiles : tiles;
        AttentionTiles own = all[member];
        long wide = scratch + own.scratchBytes();
        lie(own.keys, of.keys.matrix, of.keys.first, sequence, shared);
        lie(own.values, of.values.matrix, of.values.first, sequence, shared);
        lieAsFloats(own.dKeys, gradients.keys.matrix, gradients.keys.first, sequence, shared, wide);
        lieAsFloats(own.dValues, gradients.values.matrix, gradients.values.first, sequence, shared,
                wide + widenedBytes(1));
        for (int head = shared * sharing; head < (shared + 1) * sharing; head++) {
            turned(all, logSums, sequence, head, member);
            lie(own.dy, dy, 0, sequence, head);
            lie(own.queries, of.queries.matrix, of.queries.first, sequence, head);
            lie(own.y, y, 0, sequence, head);
            lieAsFloats(own.dQueries, gradients.queries.matrix, gradients.queries.first, sequence, head,
                    wide + 2 * widenedBytes(1));
            own.backward(head > shared * sharing, scratch);
            written(own.dQueries, gradients.queries.matrix, gradients.queries.first, sequence, head);
        }
        written(own.dKeys, gradients.keys.matrix, gradients.keys.first, sequence, shared);
        written(own.dValues, gradients.values.matrix, gradients.values.first, sequence, shared);
    }

    private void backwardWidened(CpuTensor dy, Operands of, CpuTensor y, long logSums, Operands gradients, int sequence,
            int shared, int member, long scratch) {
        AttentionTiles own = tiles[member];
        long wide = scratch + own.scratchBytes();
        long wideY = wide + widenedBytes(3);
        long wideDy = wideY + widenedBytes(1);
        lieSideBySide(own.queries, own.keys, own.values, wide);
        own.y.lie(wideY, d, Float.BYTES);
        own.dy.lie(wideDy, d, Float.BYTES);
        lieSideBySide(own.dQueries, own.dKeys, own.dValues, wideDy + widenedBytes(1));
        widen(of.keys.matrix, of.keys.first, sequence, shared, own.keys);
        widen(of.values.matrix, of.values.first, sequence, shared, own.values);
        for (int head = shared * sharing; head < (shared + 1) * sharing; head++) {
            turned(tiles, logSums, sequence, head, member);
            widen(of.queries.matrix, of.queries.first, sequence, head, own.queries);
            widen(y, 0, sequence, head, own.y);
            widen(dy, 0, sequence, head, own.dy);
            own.backward(head > shared * sharing, scratch);
            written(own.dQueries, gradients.queries.matrix, gradients.queries.first, sequence, head);
        }
        written(own.dKeys, gradients.keys.matrix, gradients.keys.first, sequence, shared);
        written(own.dValues, gradients.values.matrix, gradients.values.first, sequence, shared);
    }

    private AttentionTiles turned(AttentionTiles[] all, long logSums, int sequence, int head, int member) {
        all[member].turnTo(sequence, head, logSums + 4L * t * ((long) sequence * heads + head));
        return all[member];
    }

    /** Points to a head's elements in a matrix. */
    private void lie(Rows rows, CpuTensor matrix, int firstColumn, int sequence, int head) {
        rows.lie(matrix.addressOf(first(matrix, firstColumn, sequence, head)), matrix.size(1),
                matrix.dataType().elementBytes());
    }

    /** Points to a head's floats: in a matrix, or in scratch memory until {@link #written}. */
    private void lieAsFloats(Rows rows, CpuTensor matrix, int firstColumn, int sequence, int head, long scratch) {
        if (matrix.isNarrow()) {
            rows.lie(scratch, d, Float.BYTES);
        } else {
            lie(rows, matrix, firstColumn, sequence, head);
        }
    }

    /** Three heads next to each other as floats [T x 3D]. */
    private void lieSideBySide(Rows one, Rows two, Rows three, long address) {
        one.lie(address, 3L * d, Float.BYTES);
        two.lie(address + 4L * d, 3L * d, Float.BYTES);
        three.lie(address + 8L * d, 3L * d, Float.BYTES);
    }

    /** The first element of a head in a sequence. */
    private long first(CpuTensor matrix, int firstColumn, int sequence, int head) {
        return (long) sequence * t * matrix.size(1) + firstColumn + (long) head * d;
    }

    /** Bytes of a head's floats, rounded up to whole vectors. */
    private long widenedBytes(int widths) {
        return wholeFloats((long) t * widths * d);
    }

    private static long wholeFloats(long count) {
        return 4L * Math.ceilDiv(count, Lanes.COUNT) * Lanes.COUNT;
    }

    private void widen(CpuTensor from, int firstColumn, int sequence, int head, Rows to) {
        long first = first(from, firstColumn, sequence, head);
        for (int i = 0; i < t; i++) {
            RowLoop.widen(from.addressOf(first + (long) i * from.size(1)), to.row(i), d);
        }
    }

    private void written(Rows from, CpuTensor to, int firstColumn, int sequence, int head) {
        long first = first(to, firstColumn, sequence, head);
        for (int i = 0; to.isNarrow() && i < t; i++) {
            RowLoop.narrow(from.row(i), to.addressOf(first + (long) i * to.size(1)), d);
        }
    }
}
