package dev.troupe.engine.nd4j;

import dev.troupe.engine.nd4j.Scratch.Slot;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Layer norm (Ba et al. 2016). N rows, C columns. Sums over rows or columns are products with a vector, which BLAS computes
 * ten times as fast as ND4J reduces.
 */
final class LayerNorm {
    private final Operations operations;
    private final Scratch scratch;

    LayerNorm(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    void forward(Nd4jTensor x, Nd4jTensor gamma, Nd4jTensor beta, double epsilon, Nd4jTensor y, Nd4jTensor mean,
            Nd4jTensor reciprocalDeviation) {
        int n = x.size(0);
        int c = x.size(1);
        ArrayViews ones = scratch.ones(c);
        operations.weighRows(1.0 / c, x.matrix(), ones, 0, mean.views());
        operations.subtract(x.matrix(), mean.column(), y.matrix());
        INDArray squares = scratch.slot(Slot.FIRST, (long) n * c).matrix(n, c);
        operations.square(y.matrix(), squares);
        operations.weighRows(1.0 / c, squares, ones, 0, reciprocalDeviation.views());
        operations.add(reciprocalDeviation.flat(), scratch.scalar(epsilon), reciprocalDeviation.flat());
        operations.reciprocalRoot(reciprocalDeviation.flat(), reciprocalDeviation.flat());
        operations.multiply(y.matrix(), reciprocalDeviation.column(), y.matrix());
        operations.multiply(y.matrix(), gamma.row(), y.matrix());
        operations.add(y.matrix(), beta.row(), y.matrix());
    }

    /**
     * With {@code g = dy gamma} and {@code h} the normalized x: {@code dx = r (g - mean(g) - h mean(g h))}, r the
     * reciprocal deviation of the row.
     */
    void backwardInput(Nd4jTensor dy, Nd4jTensor x, Nd4jTensor gamma, Nd4jTensor mean, Nd4jTensor reciprocalDeviation,
            Nd4jTensor dx, boolean accumulate) {
        int n = x.size(0);
        int c = x.size(1);
        INDArray normalized = scratch.slot(Slot.FIRST, (long) n * c).matrix(n, c);
        INDArray work = scratch.slot(Slot.SECOND, (long) n * c).matrix(n, c);
        ArrayViews rows = scratch.slot(Slot.ROWS, n);
        ArrayViews moreRows = scratch.slot(Slot.MORE_ROWS, n);
        normalize(x, mean, reciprocalDeviation, normalized);
        operations.multiply(dy.matrix(), normalized, work);
        operations.weighRows(1.0 / c, work, gamma.views(), 0, rows);
        operations.weighRows(1.0 / c, dy.matrix(), gamma.views(), 0, moreRows);
        operations.multiply(normalized, rows.matrix(n, 1), normalized);
        operations.add(normalized, moreRows.matrix(n, 1), normalized);
        operations.multiply(dy.matrix(), gamma.row(), work);
        operations.subtract(work, normalized, work);
        if (accumulate) {
            operations.multiply(work, reciprocalDeviation.column(), work);
            operations.add(dx.matrix(), work, dx.matrix());
        } else {
            operations.multiply(work, reciprocalDeviation.column(), dx.matrix());
        }
    }

    void backwardWeight(Nd4jTensor dy, Nd4jTensor x, Nd4jTensor mean, Nd4jTensor reciprocalDeviation,
            Nd4jTensor dGamma, Nd4jTensor dBeta) {
        int n = x.size(0);
        int c = x.size(1);
        INDArray work = scratch.slot(Slot.FIRST, (long) n * c).matrix(n, c);
        operations.subtract(x.matrix(), mean.column(), work);
        operations.multiply(work, dy.matrix(), work);
        operations.weighRows(1, scratch.slot(Slot.FIRST, (long) n * c).transposed(n, c), reciprocalDeviation.views(), 1,
                dGamma.views());
        operations.weighRows(1, dy.transposed(), scratch.ones(n), 1, dBeta.views());
    }

    private void normalize(Nd4jTensor x, Nd4jTensor mean, Nd4jTensor reciprocalDeviation, INDArray normalized) {
        operations.subtract(x.matrix(), mean.column(), normalized);
        operations.multiply(normalized, reciprocalDeviation.column(), normalized);
    }
}
