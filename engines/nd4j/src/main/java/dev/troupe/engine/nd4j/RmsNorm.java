package dev.troupe.engine.nd4j;

import dev.troupe.engine.nd4j.Scratch.Slot;
import org.nd4j.linalg.api.ndarray.INDArray;

/** The norm by the root mean square of C neighbours (Zhang and Sennrich 2019), M of them in a matrix. */
final class RmsNorm {
    private final Operations operations;
    private final Scratch scratch;

    RmsNorm(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    /** {@code r = 1 / sqrt(mean(x x) + epsilon); y = x r gamma}. */
    void forward(Nd4jTensor x, Nd4jTensor gamma, double epsilon, Nd4jTensor y, Nd4jTensor reciprocalRoot) {
        int c = gamma.size(0);
        int m = reciprocalRoot.size(0);
        INDArray squares = scratch.slot(Slot.FIRST, (long) m * c).matrix(m, c);
        INDArray in = x.views().matrix(m, c);
        INDArray out = y.views().matrix(m, c);
        operations.square(in, squares);
        operations.weighRows(1.0 / c, squares, scratch.ones(c), 0, reciprocalRoot.views());
        operations.add(reciprocalRoot.flat(), scratch.scalar(epsilon), reciprocalRoot.flat());
        operations.reciprocalRoot(reciprocalRoot.flat(), reciprocalRoot.flat());
        operations.multiply(in, reciprocalRoot.column(), out);
        operations.multiply(out, gamma.row(), out);
    }

    /** {@code dx = r (g - h mean(g h))} with {@code g = dy gamma} and {@code h = x r}. */
    void backwardInput(Nd4jTensor dy, Nd4jTensor x, Nd4jTensor gamma, Nd4jTensor reciprocalRoot, Nd4jTensor dx,
            boolean accumulate) {
        int c = gamma.size(0);
        int m = reciprocalRoot.size(0);
        INDArray dOut = dy.views().matrix(m, c);
        INDArray normalized = scratch.slot(Slot.FIRST, (long) m * c).matrix(m, c);
        INDArray work = scratch.slot(Slot.SECOND, (long) m * c).matrix(m, c);
        ArrayViews rows = scratch.slot(Slot.ROWS, m);
        operations.multiply(x.views().matrix(m, c), reciprocalRoot.column(), normalized);
        operations.multiply(dOut, normalized, work);
        operations.weighRows(1.0 / c, work, gamma.views(), 0, rows);
        operations.multiply(normalized, rows.matrix(m, 1), normalized);
        operations.multiply(dOut, gamma.row(), work);
        operations.subtract(work, normalized, work);
        INDArray dIn = dx.views().matrix(m, c);
        if (accumulate) {
            operations.multiply(work, reciprocalRoot.column(), work);
            operations.add(dIn, work, dIn);
        } else {
            operations.multiply(work, reciprocalRoot.column(), dIn);
        }
    }

    void backwardWeight(Nd4jTensor dy, Nd4jTensor x, Nd4jTensor reciprocalRoot, Nd4jTensor dGamma) {
        int c = dGamma.size(0);
        int m = reciprocalRoot.size(0);
        ArrayViews work = scratch.slot(Slot.FIRST, (long) m * c);
        operations.multiply(x.views().matrix(m, c), dy.views().matrix(m, c), work.matrix(m, c));
        operations.weighRows(1, work.transposed(m, c), reciprocalRoot.views(), 1, dGamma.views());
    }
}
