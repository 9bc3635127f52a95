package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The engine of processors, in float32. Matrix products run in oneDNN, everything else in vector loops over native memory.
 *
 * <p>The results of a kernel are the same bytes on every call, beside other engines or alone, and for every number of
 * threads. They are not the same on processors of other vector widths or instruction sets.
 *
 * <p>Thread rule: that of {@link Engine}; tensors may also be allocated, copied and closed on any thread. A kernel runs on
 * the calling thread and, if the engine has more than one, on helpers that sleep between kernels.
 */
public final class CpuEngine extends FlatKernels {
    /** Columns that one thread sums up: whole lines of the cache, and enough of them to read memory in order. */
    private static final int COLUMN_GRAIN = 256;

    /** What the kernel that needs most of it does. */
    private static final long SCRATCH_BYTES = Math.max(CausalAttention.SCRATCH_BYTES,
            Math.max(Gelu.SCRATCH_BYTES, CrossEntropy.SCRATCH_BYTES));

    private final MatrixProduct products;
    private final Arena ownMemory = Arena.ofShared();
    private final MemorySegment scratch;
    private boolean closed;

    /** An engine with no tensors, and {@code threads - 1} helpers. */
    CpuEngine(int threads) {
        super(threads);
        products = new MatrixProduct(crew);
        scratch = ownMemory.allocate(SCRATCH_BYTES * threads, Lanes.ALIGNMENT);
    }

    @Override
    public String kind() {
        return CpuEngineProvider.KIND;
    }

    @Override
    public long bytesKeptBeside(Shape range, long rows) {
        return MatrixProduct.isPacked(rows, range.elementCount())
                ? range.elementCount() * DataType.FLOAT32.elementBytes()
                : 0;
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
        CpuTensor c = operands.matrix("product", product, m, n);
        products.multiply(a, transposeLeft, b, transposeRight, c, k, accumulate, null);
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
        Operands operands = operands("linear");
        CpuTensor in = operands.matrix("x", x);
        CpuTensor w = operands.reading().weight(weight, in);
        int m = w.size(1);
        long b = operands.reading().vector("bias", bias, m).address();
        CpuTensor result = operands.matrix("y", y, in.size(0), m);
        long out = result.address();
        products.multiply(in, false, w, false, result, in.size(1), false,
                (firstRow, rows, firstColumn, columns, member) -> {
                    for (int row = firstRow; row < firstRow + rows; row++) {
                        Bias.add(b + 4L * firstColumn, out + 4 * ((long) row * m + firstColumn), columns);
                    }
                });
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        Operands operands = operands("linearGelu");
        CpuTensor in = operands.matrix("x", x);
        CpuTensor w = operands.reading().weight(weight, in);
        int n = in.size(0);
        int m = w.size(1);
        long b = operands.reading().vector("bias", bias, m).address();
        CpuTensor result = operands.matrix("preActivation", preActivation, n, m);
        long pre = result.address();
        long out = operands.matrix("y", y, n, m).address();
        products.multiply(in, false, w, false, result, in.size(1), false,
                (firstRow, rows, firstColumn, columns, member) -> {
                    for (int row = firstRow; row < firstRow + rows; row++) {
                        long at = 4 * ((long) row * m + firstColumn);
                        Gelu.forward(b + 4L * firstColumn, pre + at, out + at, columns, scratchOf(member));
                    }
                });
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        Operands operands = operands("gelu");
        CpuTensor own = operands.matrix("preActivation", preActivation);
        long pre = own.address();
        long out = operands.like("y", y, own).address();
        int m = own.size(1);
        // Row by row, as linearGelu does it: what is a tail of a row there is one here.
        crew.share(own.size(0), rowsOf(m), (firstRow, rows, member) -> {
            for (long row = firstRow; row < firstRow + rows; row++) {
                Gelu.forward(pre + 4 * row * m, out + 4 * row * m, m, scratchOf(member));
            }
        });
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        Operands operands = operands("geluBackward");
        CpuTensor own = operands.anyShape("preActivation", preActivation);
        long pre = own.address();
        long dOut = operands.like("dy", dy, own).address();
        long dIn = operands.like("dx", dx, own).address();
        crew.share(own.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Gelu.backward(pre + 4 * from, dOut + 4 * from, dIn + 4 * from, count,
                        scratchOf(member)));
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        Operands operands = operands("biasBackward");
        CpuTensor dOut = operands.matrix("dy", dy);
        int m = dOut.size(1);
        long from = dOut.address();
        long to = operands.vector("dBias", dBias, m).address();
        crew.share(m, COLUMN_GRAIN, (first, columns, member) -> Bias.backward(from + 4 * first, dOut.size(0), m,
                to + 4 * first, columns));
    }

    @Override
    public void layerNorm(Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation) {
        Operands operands = operands("layerNorm");
        CpuTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        long from = in.address();
        long g = operands.reading().vector("gamma", gamma, c).address();
        long b = operands.reading().vector("beta", beta, c).address();
        long to = operands.like("y", y, in).address();
        long centre = operands.vector("mean", mean, n).address();
        long r = operands.vector("reciprocalDeviation", reciprocalDeviation, n).address();
        crew.share(n, rowsOf(c), (row, rows, member) -> LayerNorm.forward(from + 4 * row * c, g, b, epsilon,
                to + 4 * row * c, centre + 4 * row, r + 4 * row, rows, c, scratchOf(member)));
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        Operands operands = operands("layerNormBackwardInput");
        CpuTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        long from = in.address();
        long dOut = operands.like("dy", dy, in).address();
        long g = operands.reading().vector("gamma", gamma, c).address();
        long centre = operands.vector("mean", mean, n).address();
        long r = operands.vector("reciprocalDeviation", reciprocalDeviation, n).address();
        long dIn = operands.like("dx", dx, in).address();
        crew.share(n, rowsOf(c), (row, rows, member) -> LayerNorm.backwardInput(dOut + 4 * row * c,
                from + 4 * row * c, g, centre + 4 * row, r + 4 * row, dIn + 4 * row * c, accumulate, rows, c,
                scratchOf(member)));
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        Operands operands = operands("layerNormBackwardWeight");
        CpuTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        long from = in.address();
        long dOut = operands.like("dy", dy, in).address();
        long centre = operands.vector("mean", mean, n).address();
        long r = operands.vector("reciprocalDeviation", reciprocalDeviation, n).address();
        long dG = operands.vector("dGamma", dGamma, c).address();
        long dB = operands.vector("dBeta", dBeta, c).address();
        crew.share(c, COLUMN_GRAIN, (first, columns, member) -> LayerNorm.backwardWeight(dOut + 4 * first,
                from + 4 * first, centre, r, n, c, dG + 4 * first, dB + 4 * first, columns));
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
        long to = out.address();
        crew.share(out.size(0), rowsOf(c), (from, rows, member) -> Embedding.forward(id, row, position,
                sequenceLength, to, c, (int) from, rows));
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
        long from = dOut.address();
        long row = table.address();
        long position = positions.address();
        crew.share(c, COLUMN_GRAIN, (first, columns, member) -> Embedding.backward(id, from + 4 * first, n,
                sequenceLength, row + 4 * first, position + 4 * first, c, columns));
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
        long in = operands.matrix("qkv", qkv, out.size(0), 3 * out.size(1)).address();
        long logSums = operands.attentionState(state, out, sequenceLength, heads);
        long to = out.address();
        CausalAttention attention = new CausalAttention(sequenceLength, heads, out.size(1), dropout);
        crew.share(units, 1, (unit, count, member) -> attention.forward(in, logSums, to, (int) unit,
                scratchOf(member)));
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        Operands operands = operands("causalAttentionBackward");
        CpuTensor dOut = operands.matrix("dy", dy);
        int units = operands.heads(dOut, sequenceLength, heads);
        CpuTensor in = operands.matrix("qkv", qkv, dOut.size(0), 3 * dOut.size(1));
        long out = operands.like("y", y, dOut).address();
        long logSums = operands.attentionState(state, dOut, sequenceLength, heads);
        long dIn = operands.like("dQkv", dQkv, in).address();
        CausalAttention attention = new CausalAttention(sequenceLength, heads, dOut.size(1), dropout);
        crew.share(units, 1, (unit, count, member) -> attention.backward(dOut.address(), in.address(), out, logSums,
                dIn, (int) unit, scratchOf(member)));
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        Operands operands = operands("dropout");
        CpuTensor own = operands.matrix("x", x);
        long from = own.address();
        long to = operands.like("y", y, own).address();
        int m = own.size(1);
        Masks masks = new Masks(dropout);
        crew.share(own.size(0), rowsOf(m), (firstRow, rows, member) -> {
            for (long row = firstRow; row < firstRow + rows; row++) {
                masks.apply(dropout.placeInMatrix(row), from + 4 * row * m, to + 4 * row * m, m, scratchOf(member));
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
        long from = in.address();
        long id = ids.address();
        crew.share(n, rowsOf(v), (row, rows, member) -> CrossEntropy.forward(from + 4 * row * v, id + 4 * row,
                loss + 4 * row, logSum + 4 * row, rows, v, scratchOf(member)));
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        Operands operands = operands("crossEntropyBackward");
        CpuTensor in = operands.matrix("logits", logits);
        int n = in.size(0);
        int v = in.size(1);
        CpuTensor ids = operands.ids("targets", targets, n);
        long logSum = operands.vector("rowLogSumExp", rowLogSumExp, n).address();
        long dIn = operands.like("dLogits", dLogits, in).address();
        operands.idsBelow(v, "targets", ids);
        long from = in.address();
        long id = ids.address();
        crew.share(n, rowsOf(v), (row, rows, member) -> CrossEntropy.backward(from + 4 * row * v, id + 4 * row,
                logSum + 4 * row, (float) scale, dIn + 4 * row * v, rows, v, scratchOf(member)));
    }

    @Override
    public void close() {
        super.close();
        if (!closed) {
            closed = true;
            products.close();
            ownMemory.close();
        }
    }

    /** Memory of one thread: for one vector of sums, or for the tiles of attention. */
    private long scratchOf(int member) {
        return scratch.address() + SCRATCH_BYTES * member;
    }

    /** Rows of so many floats that make a piece of work. */
    private static int rowsOf(int columns) {
        return Math.max(1, Elementwise.GRAIN / columns);
    }
}
