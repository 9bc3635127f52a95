package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.Arrays;

/**
 * The engine all others are measured by. It computes in float64; each result is rounded once, to the type it is
 * stored in. It is stricter than the contract asks: it also refuses tensors of another engine, ids out of range, and a
 * tensor that is given twice where one of the two is written and the kernel does not allow it.
 *
 * <p>Thread rule: that of {@link Engine}; tensors may also be allocated and closed on any thread.
 */
public final class ReferenceEngine extends FlatKernels {
    /** The value of {@code engine.kind} for this engine. */
    public static final String KIND = "reference";

    /**
     * An engine with no tensors, of one type.
     *
     * @param parameterType
     *            {@link DataType#FLOAT64} or {@link DataType#FLOAT32}
     */
    public ReferenceEngine(DataType parameterType) {
        this(new EngineSettings(parameterType, 1));
    }

    /** An engine with no tensors, of these types. */
    public ReferenceEngine(EngineSettings settings) {
        super(settings);
    }

    @Override
    public String kind() {
        return KIND;
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        Operands operands = operands("matmul");
        ReferenceTensor a = operands.matrix("left", left);
        int m = a.size(transposeLeft ? 1 : 0);
        int k = a.size(transposeLeft ? 0 : 1);
        ReferenceTensor b = operands.matrix("right", right);
        int n = b.size(transposeRight ? 0 : 1);
        operands.require(b.size(transposeRight ? 1 : 0) == k, "right",
                transposeRight ? "must have " + k + " columns" : "must have " + k + " rows", right);
        ReferenceTensor out = operands.product(product, accumulate, m, n);
        operands.apart("product", out, a, b);
        if (!accumulate) {
            Arrays.fill(out.floats(), 0.0);
        }
        MatrixProduct.add(a.floats(), transposeLeft, b.floats(), transposeRight, out.floats(), m, k, n);
        out.settle();
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
        Operands operands = operands("linear");
        ReferenceTensor in = operands.matrix("x", x);
        ReferenceTensor w = operands.weight(weight, in);
        int n = in.size(0);
        int k = in.size(1);
        int m = w.size(1);
        ReferenceTensor b = operands.floats("bias", bias, m);
        ReferenceTensor out = operands.products("y", y, n, m);
        operands.apart("y", out, in, w, b);
        MatrixProduct.linear(in.floats(), w.floats(), b.floats(), out.floats(), n, k, m);
        out.settle();
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        Operands operands = operands("linearGelu");
        ReferenceTensor in = operands.matrix("x", x);
        ReferenceTensor w = operands.weight(weight, in);
        int n = in.size(0);
        int k = in.size(1);
        int m = w.size(1);
        ReferenceTensor b = operands.floats("bias", bias, m);
        ReferenceTensor pre = operands.products("preActivation", preActivation, n, m);
        ReferenceTensor out = operands.products("y", y, n, m);
        operands.apart("preActivation", pre, in, w, b);
        operands.apart("y", out, in, w, b, pre);
        MatrixProduct.linear(in.floats(), w.floats(), b.floats(), pre.floats(), n, k, m);
        pre.settle();
        Gelu.forward(pre.floats(), out.floats());
        out.settle();
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        Operands operands = operands("gelu");
        ReferenceTensor pre = operands.matrix("preActivation", preActivation);
        ReferenceTensor out = operands.like("y", y, pre);
        Gelu.forward(pre.floats(), out.floats());
        out.settle();
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        Operands operands = operands("geluBackward");
        ReferenceTensor pre = operands.anyProducts("preActivation", preActivation);
        ReferenceTensor dOut = operands.like("dy", dy, pre);
        ReferenceTensor dIn = operands.like("dx", dx, pre);
        operands.apart("dx", dIn, pre);
        Gelu.backward(pre.floats(), dOut.floats(), dIn.floats());
        dIn.settle();
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        Operands operands = operands("biasBackward");
        ReferenceTensor dOut = operands.matrix("dy", dy);
        ReferenceTensor d = operands.floats("dBias", dBias, dOut.size(1));
        MatrixProduct.biasBackward(dOut.floats(), d.floats(), dOut.size(0), dOut.size(1));
        d.settle();
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        Operands operands = operands("layerNorm");
        ReferenceTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        ReferenceTensor g = operands.floats("gamma", gamma, c);
        ReferenceTensor b = operands.floats("beta", beta, c);
        ReferenceTensor out = operands.like("y", y, in);
        ReferenceTensor centre = operands.floats("mean", mean, n);
        ReferenceTensor r = operands.floats("reciprocalDeviation", reciprocalDeviation, n);
        operands.apart("y", out, in, g, b, centre, r);
        operands.apart("mean", centre, in, g, b, r);
        operands.apart("reciprocalDeviation", r, in, g, b);
        if (residual != null) {
            operands.apart("x", in, operands.like("residual", residual, in), g, b);
            add(residual, x, x);
        }
        LayerNorm.forward(in.floats(), g.floats(), b.floats(), epsilon, out.floats(), centre.floats(), r.floats(), n,
                c);
        out.settle();
        centre.settle();
        r.settle();
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        Operands operands = operands("layerNormBackwardInput");
        ReferenceTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        ReferenceTensor dOut = operands.like("dy", dy, in);
        ReferenceTensor g = operands.floats("gamma", gamma, c);
        ReferenceTensor centre = operands.floats("mean", mean, n);
        ReferenceTensor r = operands.floats("reciprocalDeviation", reciprocalDeviation, n);
        ReferenceTensor dIn = operands.like("dx", dx, in);
        operands.apart("dx", dIn, in, g, centre, r);
        if (accumulate) {
            operands.apart("dx", dIn, dOut);
        }
        LayerNorm.backwardInput(dOut.floats(), in.floats(), g.floats(), centre.floats(), r.floats(), dIn.floats(),
                accumulate, n, c);
        dIn.settle();
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        Operands operands = operands("layerNormBackwardWeight");
        ReferenceTensor in = operands.matrix("x", x);
        int n = in.size(0);
        int c = in.size(1);
        ReferenceTensor dOut = operands.like("dy", dy, in);
        ReferenceTensor centre = operands.floats("mean", mean, n);
        ReferenceTensor r = operands.floats("reciprocalDeviation", reciprocalDeviation, n);
        ReferenceTensor dG = operands.floats("dGamma", dGamma, c);
        ReferenceTensor dB = operands.floats("dBeta", dBeta, c);
        operands.apart("dGamma", dG, centre, r, dB);
        operands.apart("dBeta", dB, centre, r);
        LayerNorm.backwardWeight(dOut.floats(), in.floats(), centre.floats(), r.floats(), dG.floats(), dB.floats(), n,
                c);
        dG.settle();
        dB.settle();
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        Operands operands = operands("embedding");
        ReferenceTensor out = operands.matrix("y", y);
        int n = out.size(0);
        int c = out.size(1);
        operands.sequences(n, sequenceLength);
        ReferenceTensor ids = operands.ints("tokens", tokens, n);
        ReferenceTensor table = operands.table("tokenTable", tokenTable, 1, c);
        operands.apart("y", out, table);
        double[] positions = null;
        if (positionTable != null) {
            ReferenceTensor added = operands.table("positionTable", positionTable, sequenceLength, c);
            operands.apart("y", out, added);
            positions = added.floats();
        }
        operands.idsBelow(table.size(0), "tokens", ids);
        Embedding.forward(ids.ints(), table.floats(), positions, sequenceLength, out.floats(), c);
        out.settle();
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        Operands operands = operands("embeddingBackward");
        ReferenceTensor dOut = operands.matrix("dy", dy);
        int n = dOut.size(0);
        int c = dOut.size(1);
        operands.sequences(n, sequenceLength);
        ReferenceTensor ids = operands.ints("tokens", tokens, n);
        ReferenceTensor table = operands.table("dTokenTable", dTokenTable, 1, c);
        ReferenceTensor positions = operands.table("dPositionTable", dPositionTable, sequenceLength, c);
        operands.apart("dTokenTable", table, dOut, positions);
        operands.apart("dPositionTable", positions, dOut);
        operands.idsBelow(table.size(0), "tokens", ids);
        Embedding.backward(ids.ints(), dOut.floats(), sequenceLength, table.floats(), positions.floats(), c);
        table.settle();
        positions.settle();
    }

    /** The probabilities, [B x H x T x T]. */
    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength, sequenceLength);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        Operands operands = operands("causalAttention");
        ReferenceTensor out = operands.matrix("y", y);
        CausalAttention attention = attention(operands, out, sequenceLength, heads);
        ReferenceTensor in = operands.products("qkv", qkv, out.size(0), 3 * out.size(1));
        ReferenceTensor kept = operands.floats("state", state, stateOf(out, sequenceLength, heads));
        operands.apart("state", kept, in, out);
        operands.apart("y", out, in);
        attention.forward(in.floats(), dropout, kept.floats(), out.floats());
        kept.settle();
        out.settle();
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        Operands operands = operands("causalAttentionBackward");
        ReferenceTensor dOut = operands.matrix("dy", dy);
        CausalAttention attention = attention(operands, dOut, sequenceLength, heads);
        ReferenceTensor in = operands.products("qkv", qkv, dOut.size(0), 3 * dOut.size(1));
        ReferenceTensor out = operands.like("y", y, dOut);
        ReferenceTensor kept = operands.floats("state", state, stateOf(dOut, sequenceLength, heads));
        ReferenceTensor dIn = operands.like("dQkv", dQkv, in);
        operands.apart("dQkv", dIn, dOut, in, out, kept);
        attention.backward(dOut.floats(), in.floats(), kept.floats(), dropout, dIn.floats());
        dIn.settle();
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        Operands operands = operands("dropout");
        ReferenceTensor in = operands.matrix("x", x);
        ReferenceTensor out = operands.like("y", y, in);
        int columns = in.size(1);
        Dropout.Reader reader = dropout.reader();
        for (int row = 0; row < in.size(0); row++) {
            for (int column = 0; column < columns; column++) {
                int i = row * columns + column;
                out.floats()[i] = in.floats()[i] * reader.factor(dropout.placeInMatrix(row) + column);
            }
        }
        out.settle();
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        Operands operands = operands("crossEntropy");
        ReferenceTensor in = operands.matrix("logits", logits);
        int n = in.size(0);
        int v = in.size(1);
        ReferenceTensor ids = operands.ints("targets", targets, n);
        ReferenceTensor loss = operands.floats("rowLoss", rowLoss, n);
        ReferenceTensor logSum = operands.floats("rowLogSumExp", rowLogSumExp, n);
        operands.apart("rowLoss", loss, in, logSum);
        operands.apart("rowLogSumExp", logSum, in);
        operands.idsBelow(v, "targets", ids);
        CrossEntropy.forward(in.floats(), ids.ints(), loss.floats(), logSum.floats(), v);
        loss.settle();
        logSum.settle();
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        Operands operands = operands("crossEntropyBackward");
        ReferenceTensor in = operands.matrix("logits", logits);
        int n = in.size(0);
        int v = in.size(1);
        ReferenceTensor ids = operands.ints("targets", targets, n);
        ReferenceTensor logSum = operands.floats("rowLogSumExp", rowLogSumExp, n);
        ReferenceTensor dIn = operands.like("dLogits", dLogits, in);
        operands.apart("dLogits", dIn, logSum);
        operands.idsBelow(v, "targets", ids);
        CrossEntropy.backward(in.floats(), ids.ints(), logSum.floats(), scale, dIn.floats(), v);
        dIn.settle();
    }

    private static CausalAttention attention(Operands operands, ReferenceTensor y, int sequenceLength, int heads) {
        int sequences = operands.sequences(y.size(0), sequenceLength);
        operands.require(heads > 0 && y.size(1) % heads == 0, "the hidden size",
                "must be a multiple of " + heads + " heads", y);
        return new CausalAttention(sequences, sequenceLength, heads, y.size(1));
    }

    private static int[] stateOf(ReferenceTensor y, int sequenceLength, int heads) {
        return new int[]{y.size(0) / sequenceLength, heads, sequenceLength, sequenceLength};
    }
}
