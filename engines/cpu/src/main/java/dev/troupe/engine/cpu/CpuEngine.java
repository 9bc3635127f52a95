package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

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
        Operands operands = operands("matmul");
        CpuTensor a = operands.matrix("left", left);
        int m = a.size(transposeLeft ? 1 : 0);
        int k = a.size(transposeLeft ? 0 : 1);
        CpuTensor b = operands.reading().matrix("right", right);
        int n = b.size(transposeRight ? 0 : 1);
        if (b.size(transposeRight ? 1 : 0) != k) {
            throw operands.misfit("right", "must have " + k + (transposeRight ? " columns" : " rows"), right);
        }
        CpuTensor c = operands.product(product, accumulate, m, n);
        products.multiply(a, transposeLeft, b, transposeRight, c, k, accumulate, 0, null);
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
        Operands operands = operands("linear");
        CpuTensor in = operands.matrix("x", x);
        CpuTensor w = operands.reading().weight(weight, in);
        int m = w.size(1);
        long b = operands.reading().vector("bias", bias, m).address();
        CpuTensor out = operands.matrix("y", y, in.size(0), m);
        products.multiply(in, false, w, false, out, in.size(1), false, b, null);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        Operands operands = operands("linearGelu");
        CpuTensor in = operands.matrix("x", x);
        CpuTensor w = operands.reading().weight(weight, in);
        int n = in.size(0);
        int m = w.size(1);
        long b = operands.reading().vector("bias", bias, m).address();
        CpuTensor pre = operands.matrix("preActivation", preActivation, n, m);
        CpuTensor out = operands.matrix("y", y, n, m);
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
        Operands operands = operands("gelu");
        CpuTensor pre = operands.matrix("preActivation", preActivation);
        CpuTensor out = operands.like("y", y, pre);
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
        Operands operands = operands("geluBackward");
        CpuTensor pre = operands.anyProducts("preActivation", preActivation);
        CpuTensor dOut = operands.like("dy", dy, pre);
        CpuTensor dIn = operands.like("dx", dx, pre);
        scratch.require(Gelu.SCRATCH_BYTES);
        pool.share(pre.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Gelu.backward(pre, dOut, dIn, from, count, scratch.of(member)));
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        Operands operands = operands("biasBackward");
        CpuTensor dOut = operands.matrix("dy", dy);
        int m = dOut.size(1);
        long to = operands.vector("dBias", dBias, m).address();
        int grain = columnsOfThread(m);
        scratch.require(Bias.scratchBytes(grain));
        pool.share(m, grain,
                (first, columns, member) -> Bias.backward(dOut, to, (int) first, columns, scratch.of(member)));
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        Operands operands = operands("layerNorm");
        CpuTensor in = operands.matrix("x", x);
        CpuTensor passing = residual == null ? null : operands.like("residual", residual, in);
        int n = in.size(0);
        int c = in.size(1);
        long g = operands.reading().vector("gamma", gamma, c).address();
        long b = operands.reading().vector("beta", beta, c).address();
        CpuTensor out = operands.like("y", y, in);
        long centre = operands.vector("mean", mean, n).address();
        long r = operands.vector("reciprocalDeviation", reciprocalDeviation, n).address();
        scratch.require(Math.max(LayerNorm.scratchBytes(c), Elementwise.SCRATCH_BYTES));
        pool.share(n, rowsOf(c), (row, rows, member) -> LayerNorm.forward(passing, in, g, b, epsilon, out, centre, r,
                (int) row, rows, scratch.of(member)));
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        Operands operands = operands("layerNormBackwardInput");
        CpuTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        CpuTensor dOut = operands.like("dy", dy, in);
        long g = operands.reading().vector("gamma", gamma, c).address();
        long centre = operands.vector("mean", mean, n).address();
        long r = operands.vector("reciprocalDeviation", reciprocalDeviation, n).address();
        CpuTensor dIn = operands.like("dx", dx, in);
        scratch.require(LayerNorm.scratchBytes(c));
        pool.share(n, rowsOf(c), (row, rows, member) -> LayerNorm.backwardInput(dOut, in, g, centre, r, dIn,
                accumulate, (int) row, rows, scratch.of(member)));
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        Operands operands = operands("layerNormBackwardWeight");
        CpuTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        CpuTensor dOut = operands.like("dy", dy, in);
        long centre = operands.vector("mean", mean, n).address();
        long r = operands.vector("reciprocalDeviation", reciprocalDeviation, n).address();
        long dG = operands.vector("dGamma", dGamma, c).address();
        long dB = operands.vector("dBeta", dBeta, c).address();
        int grain = columnsOfThread(c);
        scratch.require(LayerNorm.scratchBytes(Math.min(c, grain)));
        pool.share(c, grain, (first, columns, member) -> LayerNorm.backwardWeight(dOut, in, centre, r, dG, dB,
                (int) first, columns, scratch.of(member)));
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        Operands operands = operands("embedding");
        CpuTensor out = operands.matrix("y", y);
        int c = out.size(1);
        operands.sequences(out, sequenceLength);
        CpuTensor ids = operands.ids("tokens", tokens, out.size(0));
        CpuTensor table = operands.reading().table("tokenTable", tokenTable, 1, c);
        long position = positionTable == null
                ? Embedding.NO_TABLE
                : operands.reading().table("positionTable", positionTable, sequenceLength, c).address();
        operands.idsBelow(table.size(0), "tokens", ids);
        long id = ids.address();
        long row = table.address();
        scratch.require(Embedding.scratchBytes(c));
        pool.share(out.size(0), rowsOf(c), (from, rows, member) -> Embedding.forward(id, row, position,
                sequenceLength, out, (int) from, rows, scratch.of(member)));
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        Operands operands = operands("embeddingBackward");
        CpuTensor dOut = operands.matrix("dy", dy);
        int n = dOut.size(0);
        int c = dOut.size(1);
        operands.sequences(dOut, sequenceLength);
        CpuTensor ids = operands.ids("tokens", tokens, n);
        CpuTensor table = operands.table("dTokenTable", dTokenTable, 1, c);
        CpuTensor positions = operands.table("dPositionTable", dPositionTable, sequenceLength, c);
        operands.idsBelow(table.size(0), "tokens", ids);
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
        Operands operands = operands("causalAttention");
        CpuTensor out = operands.matrix("y", y);
        int units = operands.heads(out, sequenceLength, heads);
        CpuTensor in = operands.matrix("qkv", qkv, out.size(0), 3 * out.size(1));
        long logSums = operands.attentionState(state, out, sequenceLength, heads);
        CausalAttention attention = new CausalAttention(sequenceLength, heads, out.size(1), dropout);
        scratch.require(attention.scratchBytes(out.isNarrow()));
        pool.share(units, 1, (unit, count, member) -> attention.forward(in, logSums, out, (int) unit,
                scratch.of(member)));
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        Operands operands = operands("causalAttentionBackward");
        CpuTensor dOut = operands.matrix("dy", dy);
        int units = operands.heads(dOut, sequenceLength, heads);
        CpuTensor in = operands.matrix("qkv", qkv, dOut.size(0), 3 * dOut.size(1));
        CpuTensor out = operands.like("y", y, dOut);
        long logSums = operands.attentionState(state, dOut, sequenceLength, heads);
        CpuTensor dIn = operands.like("dQkv", dQkv, in);
        CausalAttention attention = new CausalAttention(sequenceLength, heads, dOut.size(1), dropout);
        scratch.require(attention.scratchBytes(dOut.isNarrow()));
        pool.share(units, 1, (unit, count, member) -> attention.backward(dOut, in, out, logSums, dIn, (int) unit,
                scratch.of(member)));
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        Operands operands = operands("dropout");
        CpuTensor own = operands.matrix("x", x);
        CpuTensor out = operands.like("y", y, own);
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
        Operands operands = operands("crossEntropy");
        CpuTensor in = operands.matrix("logits", logits);
        int n = in.size(0);
        int v = in.size(1);
        CpuTensor ids = operands.ids("targets", targets, n);
        long loss = operands.vector("rowLoss", rowLoss, n).address();
        long logSum = operands.vector("rowLogSumExp", rowLogSumExp, n).address();
        operands.idsBelow(v, "targets", ids);
        long id = ids.address();
        scratch.require(CrossEntropy.scratchBytes(v));
        pool.share(n, rowsOf(v), (row, rows, member) -> CrossEntropy.forward(in, id, loss, logSum, (int) row, rows,
                scratch.of(member)));
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        Operands operands = operands("crossEntropyBackward");
        CpuTensor in = operands.matrix("logits", logits);
        int n = in.size(0);
        int v = in.size(1);
        CpuTensor ids = operands.ids("targets", targets, n);
        long logSum = operands.vector("rowLogSumExp", rowLogSumExp, n).address();
        CpuTensor dIn = operands.like("dLogits", dLogits, in);
        operands.idsBelow(v, "targets", ids);
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
