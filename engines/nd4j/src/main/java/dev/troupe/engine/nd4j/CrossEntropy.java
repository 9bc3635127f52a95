package dev.troupe.engine.nd4j;

import dev.troupe.engine.Engine;
import dev.troupe.engine.nd4j.Scratch.Slot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.nd4j.linalg.api.ndarray.INDArray;

/** Softmax cross-entropy of each row: N rows, V columns. The target's logit is found by its place in the whole matrix. */
final class CrossEntropy {
    private final Operations operations;
    private final Scratch scratch;

    CrossEntropy(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    /** {@code logSumExp = max + log(sum(exp(logits - max))); loss = logSumExp - logits[target]}. */
    void forward(Nd4jTensor logits, Nd4jTensor targets, Nd4jTensor rowLoss, Nd4jTensor rowLogSumExp) {
        int n = logits.size(0);
        int v = logits.size(1);
        INDArray maximum = scratch.slot(Slot.ROWS, n).vector(n);
        INDArray work = scratch.slot(Slot.FIRST, (long) n * v).matrix(n, v);
        operations.rowMaximum(logits.matrix(), maximum);
        operations.subtract(logits.matrix(), scratch.slot(Slot.ROWS, n).matrix(n, 1), work);
        operations.exp(work, work);
        operations.weighRows(1, work, scratch.ones(v), 0, rowLogSumExp.views());
        operations.log(rowLogSumExp.flat(), rowLogSumExp.flat());
        operations.add(rowLogSumExp.flat(), maximum, rowLogSumExp.flat());
        ShardIds ids = ShardIds.of(targets, scratch);
        operations.gather(logits.flat(), places(ids, n, v), rowLoss.flat());
        operations.subtract(rowLogSumExp.flat(), rowLoss.flat(), rowLoss.flat());
        if (ids.weights() != null) {
            operations.multiply(rowLoss.flat(), ids.weights().vector(n), rowLoss.flat());
        }
    }

    void backward(Nd4jTensor logits, Nd4jTensor targets, Nd4jTensor rowLogSumExp, double scale, Nd4jTensor dLogits) {
        int n = logits.size(0);
        int v = logits.size(1);
        operations.subtract(logits.matrix(), rowLogSumExp.column(), dLogits.matrix());
        operations.exp(dLogits.flat(), dLogits.flat());
        operations.scale(scale, dLogits.flat());
        INDArray minusScale = scratch.slot(Slot.ROWS, n).vector(n);
        operations.copy(scratch.ones(n).vector(n), minusScale);
        operations.scale(-scale, minusScale);
        ShardIds ids = ShardIds.of(targets, scratch);
        if (ids.weights() != null) {
            operations.multiply(minusScale, ids.weights().vector(n), minusScale);
        }
        operations.scatterAdd(dLogits.flat(), places(ids, n, v), minusScale);
        MemorySegment values = Nd4jMemory.hostBytes(targets);
        for (int row = 0; row < n; row++) {
            if (values.getAtIndex(ValueLayout.JAVA_INT, row) == Engine.NOT_COUNTED) {
                operations.fill(0, dLogits.views().view((long) row * v, v, 0, 1, 0));
            }
        }
    }

    /** {@code sums = exp(rowLogSumExp - highest)}. */
    void shardSum(Nd4jTensor rowLogSumExp, Nd4jTensor highest, Nd4jTensor sums) {
        operations.subtract(rowLogSumExp.flat(), highest.flat(), sums.flat());
        operations.exp(sums.flat(), sums.flat());
    }

    /** Corrects rowLoss and rowLogSumExp of a shard for the whole vocabulary. */
    void joinShards(Nd4jTensor targets, Nd4jTensor highest, Nd4jTensor sums, Nd4jTensor rowLoss,
            Nd4jTensor rowLogSumExp) {
        int n = sums.size(0);
        INDArray whole = scratch.slot(Slot.ROWS, n).vector(n);
        operations.log(sums.flat(), whole);
        operations.add(whole, highest.flat(), whole);
        INDArray grown = scratch.slot(Slot.FIRST, n).vector(n);
        operations.subtract(whole, rowLogSumExp.flat(), grown);
        ShardIds ids = ShardIds.of(targets, scratch);
        if (ids.weights() != null) {
            operations.multiply(grown, ids.weights().vector(n), grown);
        }
        operations.add(rowLoss.flat(), grown, rowLoss.flat());
        operations.copy(whole, rowLogSumExp.flat());
    }

    /** INT32 [N]: the place of each row's target in the matrix, read row after row. */
    private INDArray places(ShardIds targets, int n, int v) {
        INDArray places = scratch.slot(Slot.INDICES, n).vector(n);
        operations.add(targets.rows(), scratch.rowStarts(n, v), places);
        return places;
    }
}
