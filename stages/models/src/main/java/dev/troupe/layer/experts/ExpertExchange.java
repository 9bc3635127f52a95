package dev.troupe.layer.experts;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.TensorPool;
import dev.troupe.parallel.TensorGroup;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * The exchange of sorted rows among the R ranks that divide the experts of a layer (expert parallelism, Lepikhin et al.
 * 2020): each row goes to the rank of its expert, and the result comes back. No row is dropped. A rank's rows are ordered by
 * origin, and rows of one origin by expert, so each product has the rows of one origin, as without the exchange.
 *
 * <p>N = B T rows of a rank's longest microbatch, k choices of a row, E experts: a rank receives at most
 * {@code N R min(k, E / R)} rows, since the choices of a row are different experts. Tensors have room for all of them.
 *
 * <p>Thread rule: the stage's thread.
 */
final class ExpertExchange {
    private final LayerContext context;
    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;
    private final int experts;
    private final int own;
    private final int mostOfRow;
    private final TensorPool.Extent sortedNumbers;
    private final TensorPool.Extent rowNumbers;

    ExpertExchange(LayerContext context, int experts, int perToken) {
        this.context = context;
        this.engine = context.engine();
        this.pool = context.pool();
        this.group = context.experts().group();
        this.experts = experts;
        this.own = experts / group.size();
        this.mostOfRow = Math.multiplyExact(group.size(), Math.min(perToken, own));
        this.sortedNumbers = context.activation(perToken, 1);
        this.rowNumbers = rows(1);
    }

    /** Returns the shapes of a tensor with a row for each row of this rank's experts, by {@link Routes#shape}. */
    TensorPool.Extent rows(int width) {
        return context.exchanged(mostOfRow, width);
    }

    /** Sends the counts of this rank's rows to the others, and returns the routes of all rows; the caller releases them. */
    Routes routes(Tensor segments) {
        return new Routes(segments);
    }

    /** The routes of the rows of one microbatch. */
    final class Routes {
        /** The rows from each rank to each. */
        private final int[][] sent;
        private final int[][] returned;
        private final int shape;
        private Tensor segments;

        private Routes(Tensor ofOwnRows) {
            int size = group.size();
            int[] loads = loads(ofOwnRows);
            sent = new int[size][size];
            returned = new int[size][size];
            int[] firsts = new int[size * own + 1];
            for (int from = 0; from < size; from++) {
                for (int expert = 0; expert < experts; expert++) {
                    int load = loads[from * experts + expert];
                    sent[from][expert / own] += load;
                    returned[expert / own][from] += load;
                    if (expert / own == group.rank()) {
                        int segment = from * own + expert % own;
                        firsts[segment + 1] = firsts[segment] + load;
                    }
                }
            }
            long most = rowNumbers.whole().size(0);
            long rows = Arrays.stream(returned[group.rank()]).sum();
            // If only sizes count, no rank knows its rows, and may have the most.
            shape = engine.holdsValues()
                    ? Math.toIntExact(Math.max(1, Math.ceilDiv(rows * LayerContext.EXCHANGED_SHAPES, most)))
                    : LayerContext.EXCHANGED_SHAPES;
            segments = pool.take(DataType.INT32, Shape.of(firsts.length));
            engine.copyFromHost(MemorySegment.ofArray(firsts), segments, 0);
        }

        /** Returns the rows of each expert of each rank. */
        private int[] loads(Tensor ofOwnRows) {
            int[] firsts = new int[experts + 1];
            engine.copyToHost(ofOwnRows, 0, MemorySegment.ofArray(firsts));
            double[] loads = new double[group.size() * experts];
            for (int expert = 0; expert < experts; expert++) {
                loads[group.rank() * experts + expert] = firsts[expert + 1] - firsts[expert];
            }
            group.allReduce(loads);
            return Arrays.stream(loads).mapToInt(load -> (int) load).toArray();
        }

        /** Returns the shape of tensors with this microbatch's rows of this rank's experts; the last rows may be unused. */
        int shape() {
            return shape;
        }

        /** Returns INT32 [R E / R + 1]: the first row of each own expert of each origin. */
        Tensor segments() {
            return segments;
        }

        /** Sends sorted rows to the ranks of their experts. */
        void toExperts(Tensor sorted, Tensor rows) {
            group.allToAll(sorted, sent, rows);
        }

        /** Sends the rows of this rank's experts back, to be sorted rows again. */
        void toOrigins(Tensor rows, Tensor sorted) {
            group.allToAll(rows, returned, sorted);
        }

        /**
         * As {@link dev.troupe.engine.RoutingKernels#combineRowsBackward}, with the rows on the ranks of their experts.
         *
         * @param places INT32 [N x k]: the sorted row of each choice
         * @param inner this rank's rows, changed in place
         * @param dInner this rank's rows, changed in place
         */
        void combineRowsBackward(Tensor weights, Tensor places, Tensor inner, Tensor dInner, Tensor dWeights) {
            int[] sortedRowOf = new int[Math.toIntExact(places.shape().elementCount())];
            engine.copyToHost(places, 0, MemorySegment.ofArray(sortedRowOf));
            Tensor sorted = pool.takeFloats(sortedNumbers, sortedNumbers.lengthOf(sortedRowOf.length));
            move(weights, choice -> choice, sorted, choice -> sortedRowOf[choice], sortedRowOf.length);
            Tensor ofRows = pool.takeFloats(rowNumbers, shape);
            toExperts(sorted, ofRows);
            Tensor identity = pool.take(DataType.INT32, rowNumbers, shape);
            engine.copyFromHost(MemorySegment.ofArray(IntStream.range(0, identity.shape().size(0)).toArray()), identity,
                    0);
            Tensor dOfRows = pool.takeFloats(rowNumbers, shape);
            engine.combineRowsBackward(ofRows, identity, inner, dInner, dOfRows);
            pool.give(identity);
            pool.give(ofRows);
            toOrigins(dOfRows, sorted);
            pool.give(dOfRows);
            move(sorted, choice -> sortedRowOf[choice], dWeights, choice -> choice, sortedRowOf.length);
            pool.give(sorted);
        }

        /** Copies the numbers of choices from some places to others. */
        private void move(Tensor from, IntUnaryOperator placeIn, Tensor to, IntUnaryOperator placeOut, int choices) {
            int bytes = from.dataType().elementBytes();
            MemorySegment source = onHost(from);
            MemorySegment target = MemorySegment.ofArray(new byte[Math.toIntExact(to.byteCount())]);
            for (int choice = 0; choice < choices; choice++) {
                MemorySegment.copy(source, (long) placeIn.applyAsInt(choice) * bytes, target,
                        (long) placeOut.applyAsInt(choice) * bytes, bytes);
            }
            engine.copyFromHost(target, to, 0);
        }

        private MemorySegment onHost(Tensor tensor) {
            MemorySegment host = MemorySegment.ofArray(new byte[Math.toIntExact(tensor.byteCount())]);
            engine.copyToHost(tensor, 0, host);
            return host;
        }

        void release() {
            segments = pool.drop(segments);
        }
    }
}
