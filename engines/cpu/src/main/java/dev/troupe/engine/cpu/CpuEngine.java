package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.kernel.Bias;
import dev.troupe.engine.cpu.kernel.CausalAttention;
import dev.troupe.engine.cpu.kernel.CrossEntropy;
import dev.troupe.engine.cpu.kernel.Elementwise;
import dev.troupe.engine.cpu.kernel.Embedding;
import dev.troupe.engine.cpu.kernel.Gelu;
import dev.troupe.engine.cpu.kernel.LayerNorm;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.Masks;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.cpu.product.MatrixProduct;
import dev.troupe.engine.provider.EngineSettings;

/**
 * The engine of processors, in float32, or with activations and products of bfloat16 beside it. Matrix products run in
 * oneDNN, everything else in vector loops over native memory.
 *
 * <p>The results of a kernel are the same bytes on every call, beside other engines or alone, and for every number of
 * threads. They are not the same on processors of other vector widths or instruction sets.
 *
 * <p>Thread rule: that of {@link Engine}; tensors may also be allocated, copied and closed on any thread. A kernel runs on
 * the calling thread and, if the engine has more than one, on helpers that sleep between kernels.
 */
public final class CpuEngine extends FlatKernels {
    /** The fewest columns that one thread sums up: whole lines of the cache, and enough of them to be worth a wake-up. */
    private static final int LEAST_COLUMNS = 256;

    private final MatrixProduct products;
    private boolean closed;

    /** An engine with no tensors, and one helper less than it is to have threads. */
    CpuEngine(EngineSettings settings) {
        super(settings);
        products = new MatrixProduct(pool);
    }

    @Override
    public String kind() {
        return CpuEngineProvider.KIND;
    }

    @Override
    public long bytesKeptBeside(Shape range, long rows) {
        return MatrixProduct.isPacked(computeType(), rows, range.elementCount())
                ? range.elementCount() * BfloatUnits.computing(computeType()).elementBytes()
                : 0;
    }

    @Override
    public long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return MatrixProduct.scratchBytes(computeType(), product, m, k, n, isRange, pool.threads());
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        CpuTensor a = CpuTensor.of(left);
        int m = a.size(transposeLeft ? 1 : 0);
        int k = a.size(transposeLeft ? 0 : 1);
        CpuTensor b = CpuTensor.of(right);
        int n = b.size(transposeRight ? 0 : 1);
        CpuTensor c = CpuTensor.changing(product);
        products.multiply(a, transposeLeft, b, transposeRight, c, k, accumulate, 0, null);
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
        CpuTensor in = CpuTensor.of(x);
        CpuTensor w = CpuTensor.of(weight);
        int m = w.size(1);
        long b = CpuTensor.of(bias).address();
        CpuTensor out = CpuTensor.changing(y);
        products.multiply(in, false, w, false, out, in.size(1), false, b, null);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        CpuTensor in = CpuTensor.of(x);
        CpuTensor w = CpuTensor.of(weight);
        int n = in.size(0);
        int m = w.size(1);
        long b = CpuTensor.of(bias).address();
        CpuTensor pre = CpuTensor.changing(preActivation);
        CpuTensor out = CpuTensor.changing(y);
        scratch.require(Gelu.SCRATCH_BYTES);
        products.multiply(in, false, w, false, pre, in.size(1), false, b,
                (firstRow, rows, firstColumn, columns, member) -> {
                    for (int row = firstRow; row < firstRow + rows; row++) {
                        Gelu.forward(pre, out, (long) row * m + firstColumn, columns, scratch.of(member));
                    }
                });
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        CpuTensor pre = CpuTensor.of(preActivation);
        CpuTensor out = CpuTensor.changing(y);
        int m = pre.size(1);
        scratch.require(Gelu.SCRATCH_BYTES);
        // Row by row, as linearGelu does it: what is a tail of a row there is one here.
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
    public void biasBackward(Tensor dy, Tensor dBias) {
        CpuTensor dOut = CpuTensor.of(dy);
        int m = dOut.size(1);
        long to = CpuTensor.changing(dBias).address();
        int grain = columnsOfThread(m);
        scratch.require(Bias.scratchBytes(grain));
        pool.share(m, grain,
                (first, columns, member) -> Bias.backward(dOut, to, (int) first, columns, scratch.of(member)));
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
        int n = in.size(0);
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
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        CpuTensor out = CpuTensor.changing(y);
        int c = out.size(1);
        CpuTensor ids = CpuTensor.of(tokens);
        CpuTensor table = CpuTensor.of(tokenTable);
        long position = positionTable == null
                ? Embedding.NO_TABLE
                : CpuTensor.of(positionTable).address();
        long id = ids.address();
        long row = table.address();
        scratch.require(Embedding.scratchBytes(c));
        pool.share(out.size(0), rowsOf(c), (from, rows, member) -> Embedding.forward(id, row, position,
                sequenceLength, out, (int) from, rows, scratch.of(member)));
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        CpuTensor dOut = CpuTensor.of(dy);
        int n = dOut.size(0);
        int c = dOut.size(1);
        CpuTensor ids = CpuTensor.of(tokens);
        CpuTensor table = CpuTensor.changing(dTokenTable);
        CpuTensor positions = CpuTensor.changing(dPositionTable);
        long id = ids.address();
        long row = table.address();
        long position = positions.address();
        int grain = columnsOfThread(c);
        scratch.require(Embedding.scratchBytes(grain));
        pool.share(c, grain, (first, columns, member) -> Embedding.backward(id, dOut, sequenceLength,
                row + 4 * first, position + 4 * first, (int) first, columns, scratch.of(member)));
    }

    /** The logarithms of the rows' sums of exponentials, [B x H x T]. */
    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        CpuTensor out = CpuTensor.changing(y);
        int units = out.size(0) / sequenceLength * heads;
        CpuTensor in = CpuTensor.of(qkv);
        long logSums = CpuTensor.changing(state).address();
        CausalAttention attention = new CausalAttention(sequenceLength, heads, out.size(1), dropout);
        scratch.require(attention.scratchBytes(out.isNarrow()));
        pool.share(units, 1, (unit, count, member) -> attention.forward(in, logSums, out, (int) unit,
                scratch.of(member)));
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        CpuTensor dOut = CpuTensor.of(dy);
        int units = dOut.size(0) / sequenceLength * heads;
        CpuTensor in = CpuTensor.of(qkv);
        CpuTensor out = CpuTensor.of(y);
        long logSums = CpuTensor.of(state).address();
        CpuTensor dIn = CpuTensor.changing(dQkv);
        CausalAttention attention = new CausalAttention(sequenceLength, heads, dOut.size(1), dropout);
        scratch.require(attention.scratchBytes(dOut.isNarrow()));
        pool.share(units, 1, (unit, count, member) -> attention.backward(dOut, in, out, logSums, dIn, (int) unit,
                scratch.of(member)));
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
    public void close() {
        super.close();
        if (!closed) {
            closed = true;
            products.close();
        }
    }

    /**
     * Columns that one thread sums up: its whole share, since a row is read fastest in one go. How columns are cut does not
     * show in their sums.
     */
    private int columnsOfThread(int columns) {
        return Math.max(LEAST_COLUMNS, Lanes.wholeFor(Math.ceilDiv(columns, pool.threads())));
    }

    /** Rows of so many floats that make a piece of work. */
    private static int rowsOf(int columns) {
        return Math.max(1, Elementwise.GRAIN / columns);
    }
}
