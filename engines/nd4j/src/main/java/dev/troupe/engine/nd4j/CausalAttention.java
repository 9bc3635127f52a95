package dev.troupe.engine.nd4j;

import dev.troupe.engine.Shape;
import dev.troupe.engine.TooManyElementsException;
import dev.troupe.engine.nd4j.Scratch.Slot;
import java.util.HashMap;
import java.util.Map;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Causal attention (Vaswani et al. 2017) in blocks of queries. A block of queries needs the keys up to its own last one,
 * so of the T x T probabilities of a head only the blocks on and under the diagonal are computed and kept.
 *
 * <p>B sequences of T positions, H heads of D numbers, C = H D; a block has Q queries and W keys (its first query being W
 * - Q). The state holds the probabilities block by block: [B H Q x W] each, so that mask and softmax are one operation
 * for all heads. Matrix products go head by head over the columns of qkv as they lie, with no copy.
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

    /** What one head keeps for the queries before {@code query}, the first of a block or T. */
    private static long keptBefore(int query, int sequenceLength) {
        long kept = 0;
        for (long first = 0; first < query; first += BLOCK) {
            long end = Math.min(sequenceLength, first + BLOCK);
            kept += (end - first) * end;
        }
        return kept;
    }

    void forward(Nd4jTensor qkv, int sequenceLength, int heads, Nd4jTensor state, Nd4jTensor y) {
        Heads all = new Heads(y, sequenceLength, heads);
        for (int first = 0; first < sequenceLength; first += BLOCK) {
            int end = Math.min(sequenceLength, first + BLOCK);
            int queries = end - first;
            long offset = all.count * keptBefore(first, sequenceLength);
            INDArray block = state.views().matrix(offset, (long) all.count * queries, end);
            operations.repeatRow(mask(queries, end), state.views().matrix(offset, all.count, (long) queries * end));
            for (int head = 0; head < all.count; head++) {
                operations.multiplyMatrices(all.scale, all.keyRows(qkv, head, end), all.queries(qkv, head, first, end),
                        1, all.block(state.views(), offset, head, queries, end));
            }
            operations.softmax(block, block);
            for (int head = 0; head < all.count; head++) {
                operations.multiplyMatrices(1, all.values(qkv, head, end),
                        all.block(state.views(), offset, head, queries, end), 0, all.output(y, head, first, end));
            }
        }
    }

    /**
     * With P the probabilities of a block and {@code dP = dy v}: {@code dS = P (dP - rowsum(P dP))}; from dS come the
     * gradients of queries and keys, from P that of the values. The last block reaches all keys, so it comes first and
     * overwrites; the others add.
     */
    void backward(Nd4jTensor dy, Nd4jTensor qkv, Nd4jTensor state, int sequenceLength, int heads, Nd4jTensor dQkv) {
        Heads all = new Heads(dy, sequenceLength, heads);
        int last = (sequenceLength - 1) / BLOCK * BLOCK;
        for (int first = last; first >= 0; first -= BLOCK) {
            int end = Math.min(sequenceLength, first + BLOCK);
            int queries = end - first;
            double keep = first == last ? 0 : 1;
            long offset = all.count * keptBefore(first, sequenceLength);
            long rows = (long) all.count * queries;
            ArrayViews work = scratch.slot(Slot.FIRST, rows * end);
            for (int head = 0; head < all.count; head++) {
                operations.multiplyMatrices(1, all.valueRows(qkv, head, end), all.output(dy, head, first, end), 0,
                        all.block(work, 0, head, queries, end));
                operations.multiplyMatrices(1, all.output(dy, head, first, end),
                        all.blockRows(state.views(), offset, head, queries, end), keep, all.values(dQkv, head, end));
            }
            softmaxBackward(state.views().matrix(offset, rows, end), work, rows, end);
            for (int head = 0; head < all.count; head++) {
                operations.multiplyMatrices(all.scale, all.keys(qkv, head, end),
                        all.block(work, 0, head, queries, end), 0, all.queries(dQkv, head, first, end));
                operations.multiplyMatrices(all.scale, all.queries(qkv, head, first, end),
                        all.blockRows(work, 0, head, queries, end), keep, all.keys(dQkv, head, end));
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

    /** [Q W]: 0 where the query may see the key, minus infinity where the key comes later. */
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

    void close() {
        masks.values().forEach(ArrayViews::close);
        masks.clear();
    }

    /** Where the parts of a head lie. What BLAS gets is column-major, so [D x T] where the tensor has [T x D]. */
    private static final class Heads {
        private final int sequenceLength;
        private final int heads;
        private final int hidden;
        private final int size;
        private final int count;
        private final double scale;

        Heads(Nd4jTensor rows, int sequenceLength, int heads) {
            this.sequenceLength = sequenceLength;
            this.heads = heads;
            this.hidden = rows.size(1);
            this.size = hidden / heads;
            this.count = rows.size(0) / sequenceLength * heads;
            this.scale = 1 / Math.sqrt(size);
        }

        /** [D x queries]. */
        INDArray queries(Nd4jTensor qkv, int head, int first, int end) {
            return qkv.views().view(offset(head, 3 * hidden, first, 0), size, end - first, 1, 3L * hidden);
        }

        /** [D x keys]. */
        INDArray keys(Nd4jTensor qkv, int head, int end) {
            return qkv.views().view(offset(head, 3 * hidden, 0, hidden), size, end, 1, 3L * hidden);
        }

        /** [keys x D]. */
        INDArray keyRows(Nd4jTensor qkv, int head, int end) {
            return qkv.views().view(offset(head, 3 * hidden, 0, hidden), end, size, 3L * hidden, 1);
        }

        /** [D x keys]. */
        INDArray values(Nd4jTensor qkv, int head, int end) {
            return qkv.views().view(offset(head, 3 * hidden, 0, 2 * hidden), size, end, 1, 3L * hidden);
        }

        /** [keys x D]. */
        INDArray valueRows(Nd4jTensor qkv, int head, int end) {
            return qkv.views().view(offset(head, 3 * hidden, 0, 2 * hidden), end, size, 3L * hidden, 1);
        }

        /** [D x queries]. */
        INDArray output(Nd4jTensor y, int head, int first, int end) {
            return y.views().view(offset(head, hidden, first, 0), size, end - first, 1, hidden);
        }

        /** One head of a block, [keys x queries]. */
        INDArray block(ArrayViews views, long offset, int head, int queries, int keys) {
            return views.view(offset + (long) head * queries * keys, keys, queries, 1, keys);
        }

        /** One head of a block, [queries x keys]. */
        INDArray blockRows(ArrayViews views, long offset, int head, int queries, int keys) {
            return views.view(offset + (long) head * queries * keys, queries, keys, keys, 1);
        }

        private long offset(int head, int columns, int position, int part) {
            long row = (long) head / heads * sequenceLength + position;
            return row * columns + part + (long) head % heads * size;
        }
    }
}
