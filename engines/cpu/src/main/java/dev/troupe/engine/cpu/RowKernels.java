package dev.troupe.engine.cpu;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.kernel.CrossEntropy;
import dev.troupe.engine.cpu.kernel.Elementwise;
import dev.troupe.engine.cpu.kernel.Gelu;
import dev.troupe.engine.cpu.kernel.LayerNorm;
import dev.troupe.engine.cpu.kernel.RmsNorm;
import dev.troupe.engine.cpu.kernel.SwiGlu;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.Masks;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.provider.EngineSettings;

/** The kernels on single rows of matrices: activations, norms, dropout, losses. */
abstract class RowKernels extends FlatKernels {
    /** The fewest columns that one thread sums up: whole lines of the cache, and enough to be worth a wake-up. */
    private static final int LEAST_COLUMNS = 256;

    RowKernels(EngineSettings settings) {
        super(settings);
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        CpuTensor pre = CpuTensor.of(preActivation);
        CpuTensor out = CpuTensor.changing(y);
        int m = pre.size(1);
        scratch.require(Gelu.SCRATCH_BYTES);
        // Row by row as in linearGelu, so that the same elements are in the tail of a row.
        pool.share(pre.size(0), rowsOf(m), (firstRow, rows, member) -> {
            for (long row = firstRow; row < firstRow + rows; row++) {
                Gelu.forward(pre, out, row * m, m, scratch.of(member));
            }
        });
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        CpuTensor pre = CpuTensor.of(preActivation);
        CpuTensor dOut = CpuTensor.of(dy);
        CpuTensor dIn = CpuTensor.changing(dx);
        scratch.require(Gelu.SCRATCH_BYTES);
        pool.share(pre.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Gelu.backward(pre, dOut, dIn, from, count, scratch.of(member)));
    }

    @Override
    public void swiGlu(Tensor gate, Tensor up, Tensor y) {
        CpuTensor in = CpuTensor.of(gate);
        CpuTensor factor = CpuTensor.of(up);
        CpuTensor out = CpuTensor.changing(y);
        scratch.require(SwiGlu.SCRATCH_BYTES);
        pool.share(in.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> SwiGlu.forward(in, factor, out, from, count, scratch.of(member)));
    }

    @Override
    public void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        CpuTensor in = CpuTensor.of(gate);
        CpuTensor factor = CpuTensor.of(up);
        CpuTensor dOut = CpuTensor.of(dy);
        CpuTensor dIn = CpuTensor.changing(dGate);
        CpuTensor dFactor = CpuTensor.changing(dUp);
        scratch.require(SwiGlu.SCRATCH_BYTES);
        pool.share(in.elementCount(), Elementwise.GRAIN, (from, count, member) -> SwiGlu.backward(in, factor, dOut,
                dIn, dFactor, from, count, scratch.of(member)));
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        CpuTensor in = residual == null ? CpuTensor.of(x) : CpuTensor.changing(x);
        CpuTensor passing = residual == null ? null : CpuTensor.of(residual);
        int n = in.size(0);
        int c = in.size(1);
        long g = CpuTensor.of(gamma).address();
        long b = CpuTensor.of(beta).address();
        CpuTensor out = CpuTensor.changing(y);
        long centre = CpuTensor.changing(mean).address();
        long r = CpuTensor.changing(reciprocalDeviation).address();
        scratch.require(Math.max(LayerNorm.scratchBytes(c), Elementwise.SCRATCH_BYTES));
        pool.share(n, rowsOf(c), (row, rows, member) -> LayerNorm.forward(passing, in, g, b, epsilon, out, centre, r,
                (int) row, rows, scratch.of(member)));
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        CpuTensor in = CpuTensor.of(x);
        int n = in.size(0);
        int c = in.size(1);
        CpuTensor dOut = CpuTensor.of(dy);
        long g = CpuTensor.of(gamma).address();
        long centre = CpuTensor.of(mean).address();
        long r = CpuTensor.of(reciprocalDeviation).address();
        CpuTensor dIn = CpuTensor.changing(dx);
        scratch.require(LayerNorm.scratchBytes(c));
        pool.share(n, rowsOf(c), (row, rows, member) -> LayerNorm.backwardInput(dOut, in, g, centre, r, dIn,
                accumulate, (int) row, rows, scratch.of(member)));
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        CpuTensor in = CpuTensor.of(x);
        int c = in.size(1);
        CpuTensor dOut = CpuTensor.of(dy);
        long centre = CpuTensor.of(mean).address();
        long r = CpuTensor.of(reciprocalDeviation).address();
        long dG = CpuTensor.changing(dGamma).address();
        long dB = CpuTensor.changing(dBeta).address();
        int grain = columnsOfThread(c);
        scratch.require(LayerNorm.scratchBytes(Math.min(c, grain)));
        pool.share(c, grain, (first, columns, member) -> LayerNorm.backwardWeight(dOut, in, centre, r, dG, dB,
                (int) first, columns, scratch.of(member)));
    }

    @Override
    public void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot) {
        CpuTensor in = residual == null ? CpuTensor.of(x) : CpuTensor.changing(x);
        CpuTensor passing = residual == null ? null : CpuTensor.of(residual);
        CpuTensor g = CpuTensor.of(gamma);
        int c = g.size(0);
        CpuTensor out = CpuTensor.changing(y);
        CpuTensor r = CpuTensor.changing(reciprocalRoot);
        scratch.require(Math.max(RmsNorm.scratchBytes(c), Elementwise.SCRATCH_BYTES));
        pool.share(r.size(0), rowsOf(c), (norm, norms, member) -> RmsNorm.forward(passing, in, g.address(), c, epsilon,
                out, r.address(), (int) norm, norms, scratch.of(member)));
    }

    @Override
    public void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        CpuTensor dOut = CpuTensor.of(dy);
        CpuTensor in = CpuTensor.of(x);
        CpuTensor g = CpuTensor.of(gamma);
        int c = g.size(0);
        CpuTensor r = CpuTensor.of(reciprocalRoot);
        CpuTensor dIn = CpuTensor.changing(dx);
        scratch.require(RmsNorm.scratchBytes(c));
        pool.share(r.size(0), rowsOf(c), (norm, norms, member) -> RmsNorm.backwardInput(dOut, in, g.address(), c,
                r.address(), dIn, accumulate, (int) norm, norms, scratch.of(member)));
    }

    @Override
    public void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        CpuTensor dOut = CpuTensor.of(dy);
        CpuTensor in = CpuTensor.of(x);
        CpuTensor r = CpuTensor.of(reciprocalRoot);
        CpuTensor dG = CpuTensor.changing(dGamma);
        int c = dG.size(0);
        scratch.require(RmsNorm.scratchBytes(c));
        pool.share(c, columnsOfThread(c, dOut.elementCount()),
                (first, columns, member) -> RmsNorm.backwardWeight(dOut, in, r.address(),
                        dG.address(), c, (int) first, columns, scratch.of(member)));
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        CpuTensor own = CpuTensor.of(x);
        CpuTensor out = CpuTensor.changing(y);
        int m = own.size(1);
        Masks masks = new Masks(dropout);
        scratch.require(Masks.SCRATCH_BYTES + 4L * m);
        pool.share(own.size(0), rowsOf(m), (firstRow, rows, member) -> {
            for (long row = firstRow; row < firstRow + rows; row++) {
                long floats = scratch.of(member) + Masks.SCRATCH_BYTES;
                long to = out.target(row * m, floats);
                masks.apply(dropout.placeInMatrix(row), own.read(row * m, m, floats), to, m, scratch.of(member));
                out.written(row * m, m, to);
            }
        });
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        CpuTensor in = CpuTensor.of(logits);
        int n = in.size(0);
        int v = in.size(1);
        CpuTensor ids = CpuTensor.of(targets);
        long loss = CpuTensor.changing(rowLoss).address();
        long logSum = CpuTensor.changing(rowLogSumExp).address();
        long id = ids.address();
        scratch.require(CrossEntropy.scratchBytes(v));
        pool.share(n, rowsOf(v), (row, rows, member) -> CrossEntropy.forward(in, id, loss, logSum, (int) row, rows,
                scratch.of(member)));
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        CpuTensor in = CpuTensor.of(logits);
        int n = in.size(0);
        int v = in.size(1);
        CpuTensor ids = CpuTensor.of(targets);
        long logSum = CpuTensor.of(rowLogSumExp).address();
        CpuTensor dIn = CpuTensor.changing(dLogits);
        long id = ids.address();
        scratch.require(CrossEntropy.scratchBytes(v));
        pool.share(n, rowsOf(v), (row, rows, member) -> CrossEntropy.backward(in, id, logSum, (float) scale, dIn,
                (int) row, rows, scratch.of(member)));
    }

    @Override
    public void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        CrossEntropy.shardSum(CpuTensor.of(rowLogSumExp).address(), CpuTensor.of(highest).address(),
                CpuTensor.changing(sums).address(), sums.shape().size(0));
    }

    @Override
    public void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        CrossEntropy.joinShards(CpuTensor.of(targets).address(), CpuTensor.of(highest).address(),
                CpuTensor.of(sums).address(), CpuTensor.changing(rowLoss).address(),
                CpuTensor.changing(rowLogSumExp).address(), sums.shape().size(0));
    }

    /**
     * Columns that one thread sums up: its whole share, since a row is read fastest in one go. The cut does not change sums.
     */
    final int columnsOfThread(int columns) {
        return Math.max(LEAST_COLUMNS, Lanes.wholeFor(Math.ceilDiv(columns, pool.threads())));
    }

    /** As {@link #columnsOfThread(int)}, for the few columns of a head, which are worth a wake-up only with many rows. */
    private int columnsOfThread(int columns, long elements) {
        return elements < 2 * Elementwise.GRAIN
                ? columnsOfThread(columns)
                : Math.max((int) Lanes.ALIGNMENT / Float.BYTES, Lanes.wholeFor(Math.ceilDiv(columns, pool.threads())));
    }

    /** Returns the number of rows of {@code columns} floats in a piece of work. */
    static int rowsOf(int columns) {
        return Math.max(1, Elementwise.GRAIN / columns);
    }
}
