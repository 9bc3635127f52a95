package dev.troupe.engine.nd4j;

import dev.troupe.engine.Shape;
import dev.troupe.engine.TooManyElementsException;
import dev.troupe.engine.nd4j.Scratch.Slot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Causal attention (Vaswani et al. 2017) in blocks of queries. A block of queries needs the keys up to its last query, so
 * only the blocks on and under the diagonal of the T x T probabilities of a head are computed and kept.
 *
 * <p>B sequences of T positions, H heads of D numbers, C = H D; a block has Q queries and W keys, and its first query is W
 * - Q. The state has the probabilities block by block, [B H Q x W] each, so that mask and softmax are one operation for all
 * heads. Matrix products go head by head over columns in place, without a copy.
 */
final class CausalAttention {
    private static final int BLOCK = 64;

    private final Operations operations;
    private final Scratch scratch;
    private final DataType parameterType;
    private final Map<Mask, ArrayViews> masks = new HashMap<>();

    private record Mask(int queries, int keys) {
    }

    CausalAttention(Operations operations, Scratch scratch, DataType parameterType) {
        this.operations = operations;
        this.scratch = scratch;
        this.parameterType = parameterType;
    }

    /** [B H x numbers kept for one head]. */
    static Shape stateShape(int sequences, int sequenceLength, int heads) {
        long kept = keptBefore(sequenceLength, sequenceLength);
        long rows = (long) sequences * heads;
        if (rows > TooManyElementsException.MOST || kept > TooManyElementsException.MOST) {
            throw new TooManyElementsException(rows, kept);
        }
        return Shape.of((int) rows, (int) kept);
    }

    /** The state of one head for the queries before {@code query}, the first of a block or T. */
    private static long keptBefore(int query, int sequenceLength) {
        long kept = 0;
        for (long first = 0; first < query; first += BLOCK) {
            long end = Math.min(sequenceLength, first + BLOCK);
            kept += (end - first) * end;
        }
        return kept;
    }

    /**
     * Heads of a matrix.
     *
     * @param first the first column of the first head
     * @param sharing the number of heads of queries for each of these heads
     */
    record Matrix(Nd4jTensor tensor, int first, int sharing) {
    }

    /** Queries, keys and values, or the gradients for them. */
    record Operands(Matrix queries, Matrix keys, Matrix values) {
        /** Three parts of a matrix [N x 3 H D]. */
        static Operands packed(Nd4jTensor qkv) {
            int c = qkv.size(1) / 3;
            return new Operands(new Matrix(qkv, 0, 1), new Matrix(qkv, c, 1), new Matrix(qkv, 2 * c, 1));
        }

        /** Three matrices; every {@code sharing} neighbours among the heads have the same keys and values. */
        static Operands apart(Nd4jTensor queries, Nd4jTensor keys, Nd4jTensor values, int sharing) {
            return new Operands(new Matrix(queries, 0, 1), new Matrix(keys, 0, sharing),
                    new Matrix(values, 0, sharing));
        }
    }

    /** Attention; {@code starts} has the beginning of each row's document, and is null if each sequence is one. */
    void forward(Operands of, Nd4jTensor starts, int sequenceLength, int heads, Nd4jTensor state, Nd4jTensor y) {
        Heads all = new Heads(y, sequenceLength, heads);
        for (int first = 0; first < sequenceLength; first += BLOCK) {
            int end = Math.min(sequenceLength, first + BLOCK);
            int queries = end - first;
            long offset = all.count * keptBefore(first, sequenceLength);
            INDArray block = state.views().matrix(offset, (long) all.count * queries, end);
            if (starts == null) {
                operations.repeatRow(mask(queries, end), state.views().matrix(offset, all.count, (long) queries * end));
            } else {
                maskDocuments(starts, all, first, end, state.views(), offset);
            }
            for (int head = 0; head < all.count; head++) {
                operations.multiplyMatrices(all.scale, all.rows(of.keys, head, end),
                        all.columns(of.queries, head, first, end),
                        1, all.block(state.views(), offset, head, queries, end));
            }
            operations.softmax(block, block);
            for (int head = 0; head < all.count; head++) {
                operations.multiplyMatrices(1, all.columns(of.values, head, 0, end),
                        all.block(state.views(), offset, head, queries, end), 0, all.output(y, head, first, end));
            }
        }
    }

    /** The heads of one row, which sees the first {@code length} rows of keys and values. */
    void last(Operands of, int length, int heads, Nd4jTensor y) {
        int d = y.size(1) / heads;
        int sharing = of.keys.sharing;
        int columns = of.keys.tensor.size(1);
        ArrayViews work = scratch.slot(Slot.FIRST, (long) heads * length);
        for (int shared = 0; shared < heads / sharing; shared++) {
            operations.multiplyMatrices(1 / Math.sqrt(d),
                    of.keys.tensor.views().passing((long) shared * d, length, d, columns, 1),
                    of.queries.tensor.views().view((long) shared * sharing * d, d, sharing, 1, d), 0,
                    work.passing((long) shared * sharing * length, length, sharing, 1, length));
        }
        INDArray scores = work.passing(0, heads, length, length, 1);
        operations.softmax(scores, scores);
        for (int shared = 0; shared < heads / sharing; shared++) {
            operations.multiplyMatrices(1,
                    of.values.tensor.views().passing((long) shared * d, d, length, 1, columns),
                    work.passing((long) shared * sharing * length, length, sharing, 1, length), 0,
                    y.views().view((long) shared * sharing * d, d, sharing, 1, d));
        }
    }

    /**
     * With P the probabilities of a block and {@code dP = dy v}: {@code dS = P (dP - rowsum(P dP))}. The gradients of
     * queries and keys follow from dS, the gradient of values from P. The last block reaches all keys, so it comes first
     * and overwrites; the others add.
     */
    void backward(Nd4jTensor dy, Operands of, Nd4jTensor state, int sequenceLength, int heads, Operands gradients) {
        Heads all = new Heads(dy, sequenceLength, heads);
        int last = (sequenceLength - 1) / BLOCK * BLOCK;
        for (int first = last; first >= 0; first -= BLOCK) {
            int end = Math.min(sequenceLength, first + BLOCK);
            int queries = end - first;
            long offset = all.count * keptBefore(first, sequenceLength);
            long rows = (long) all.count * queries;
            ArrayViews work = scratch.slot(Slot.FIRST, rows * end);
            for (int head = 0; head < all.count; head++) {
                double keep = first == last && head % of.values.sharing == 0 ? 0 : 1;
                operations.multiplyMatrices(1, all.rows(of.values, head, end), all.output(dy, head, first, end), 0,
                        all.block(work, 0, head, queries, end));
                operations.multiplyMatrices(1, all.output(dy, head, first, end),
                        all.blockRows(state.views(), offset, head, queries, end), keep,
                        all.columns(gradients.values, head, 0, end));
            }
            softmaxBackward(state.views().matrix(offset, rows, end), work, rows, end);
            for (int head = 0; head < all.count; head++) {
                double keep = first == last && head % of.keys.sharing == 0 ? 0 : 1;
                operations.multiplyMatrices(all.scale, all.columns(of.keys, head, 0, end),
                        all.block(work, 0, head, queries, end), 0, all.columns(gradients.queries, head, first, end));
                operations.multiplyMatrices(all.scale, all.columns(of.queries, head, first, end),
                        all.blockRows(work, 0, head, queries, end), keep, all.columns(gradients.keys, head, 0, end));
            }
        }
    }

    private void softmaxBackward(INDArray probabilities, ArrayViews work, long rows, int columns) {
        INDArray gradients = work.matrix(rows, columns);
        ArrayViews sums = scratch.slot(Slot.ROWS, rows);
        INDArray shares = scratch.slot(Slot.SECOND, rows * columns).matrix(rows, columns);
        operations.multiply(gradients, probabilities, gradients);
        operations.weighRows(1, gradients, scratch.ones(columns), 0, sums);
        operations.multiply(probabilities, sums.matrix(rows, 1), shares);
        operations.subtract(gradients, shares, gradients);
    }

    /** The mask [Q W]: 0 if the query sees the key, minus infinity if the key comes later. */
    private INDArray mask(int queries, int keys) {
        return masks.computeIfAbsent(new Mask(queries, keys), shape -> {
            float[] values = new float[queries * keys];
            for (int query = 0; query < queries; query++) {
                for (int key = keys - queries + query + 1; key < keys; key++) {
                    values[query * keys + key] = Float.NEGATIVE_INFINITY;
                }
            }
            return new ArrayViews(Nd4j.createFromArray(values).castTo(parameterType));
        }).flat();
    }

    /** The same for each sequence and its documents, written to the state at an offset. */
    private void maskDocuments(Nd4jTensor starts, Heads all, int first, int end, ArrayViews state, long offset) {
        MemorySegment begins = Nd4jMemory.hostBytes(starts);
        int queries = end - first;
        for (int sequence = 0; sequence < all.count / all.heads; sequence++) {
            float[] values = new float[queries * end];
            for (int query = 0; query < queries; query++) {
                int row = sequence * all.sequenceLength + first + query;
                int start = begins.getAtIndex(ValueLayout.JAVA_INT, row);
                Arrays.fill(values, query * end, query * end + start, Float.NEGATIVE_INFINITY);
                Arrays.fill(values, query * end + first + query + 1, (query + 1) * end, Float.NEGATIVE_INFINITY);
            }
            try (INDArray mask = Nd4j.createFromArray(values).castTo(parameterType)) {
                operations.repeatRow(mask, state.matrix(offset + (long) sequence * all.heads * queries * end,
                        all.heads, (long) queries * end));
            }
        }
    }

    void close() {
        masks.values().forEach(ArrayViews::close);
        masks.clear();
    }

    /** Views of the parts of a head. BLAS gets column-major matrices, [D x T] for [T x D] of a tensor. */
    private static final class Heads {
        private final int sequenceLength;
        private final int heads;
        private final int size;
        private final int count;
        private final double scale;

        Heads(Nd4jTensor rows, int sequenceLength, int heads) {
            this.sequenceLength = sequenceLength;
            this.heads = heads;
            this.size = rows.size(1) / heads;
            this.count = rows.size(0) / sequenceLength * heads;
            this.scale = 1 / Math.sqrt(size);
        }

        /** Some rows of a head as columns, [D x rows]. */
        INDArray columns(Matrix of, int head, int first, int end) {
            int stride = of.tensor.size(1);
            return of.tensor.views().view(offset(of, head, first), size, end - first, 1, stride);
        }

        /** [end x D]. */
        INDArray rows(Matrix of, int head, int end) {
            int stride = of.tensor.size(1);
            return of.tensor.views().view(offset(of, head, 0), end, size, stride, 1);
        }

        /** [D x queries]. */
        INDArray output(Nd4jTensor y, int head, int first, int end) {
            return columns(new Matrix(y, 0, 1), head, first, end);
        }

        /** One head of a block, [keys x queries]. */
        INDArray block(ArrayViews views, long offset, int head, int queries, int keys) {
            return views.view(offset + (long) head * queries * keys, keys, queries, 1, keys);
        }

        /** One head of a block, [queries x keys]. */
        INDArray blockRows(ArrayViews views, long offset, int head, int queries, int keys) {
            return views.view(offset + (long) head * queries * keys, queries, keys, keys, 1);
        }

        private long offset(Matrix of, int head, int position) {
            long row = (long) head / heads * sequenceLength + position;
            return row * of.tensor.size(1) + of.first + (long) head % heads / of.sharing * size;
        }
    }
}
