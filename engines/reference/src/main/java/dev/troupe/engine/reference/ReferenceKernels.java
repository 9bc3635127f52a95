package dev.troupe.engine.reference;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.Arrays;

/**
 * The kernels of the reference engine: they compute in float64, and each result is rounded once, to the type it is
 * stored in.
 */
final class ReferenceKernels extends FlatKernels {
    /** Of an engine with no tensors, of these types. */
    ReferenceKernels(EngineSettings settings) {
        super(settings);
    }

    @Override
    public String kind() {
        return ReferenceEngine.KIND;
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        ReferenceTensor a = ReferenceTensor.of(left);
        int m = a.size(transposeLeft ? 1 : 0);
        int k = a.size(transposeLeft ? 0 : 1);
        ReferenceTensor b = ReferenceTensor.of(right);
        int n = b.size(transposeRight ? 0 : 1);
        ReferenceTensor out = ReferenceTensor.of(product);
        if (!accumulate) {
            Arrays.fill(out.floats(), 0.0);
        }
        MatrixProduct.add(a.floats(), transposeLeft, b.floats(), transposeRight, out.floats(), m, k, n);
        out.settle();
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor w = ReferenceTensor.of(weight);
        int n = in.size(0);
        int k = in.size(1);
        int m = w.size(1);
        ReferenceTensor b = ReferenceTensor.of(bias);
        ReferenceTensor out = ReferenceTensor.of(y);
        MatrixProduct.linear(in.floats(), w.floats(), b.floats(), out.floats(), n, k, m);
        out.settle();
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor w = ReferenceTensor.of(weight);
        int n = in.size(0);
        int k = in.size(1);
        int m = w.size(1);
        ReferenceTensor b = ReferenceTensor.of(bias);
        ReferenceTensor pre = ReferenceTensor.of(preActivation);
        ReferenceTensor out = ReferenceTensor.of(y);
        MatrixProduct.linear(in.floats(), w.floats(), b.floats(), pre.floats(), n, k, m);
        pre.settle();
        Gelu.forward(pre.floats(), out.floats());
        out.settle();
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        ReferenceTensor pre = ReferenceTensor.of(preActivation);
        ReferenceTensor out = ReferenceTensor.of(y);
        Gelu.forward(pre.floats(), out.floats());
        out.settle();
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        ReferenceTensor pre = ReferenceTensor.of(preActivation);
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor dIn = ReferenceTensor.of(dx);
        Gelu.backward(pre.floats(), dOut.floats(), dIn.floats());
        dIn.settle();
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor d = ReferenceTensor.of(dBias);
        MatrixProduct.biasBackward(dOut.floats(), d.floats(), dOut.size(0), dOut.size(1));
        d.settle();
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        ReferenceTensor in = ReferenceTensor.of(x);
        int n = in.size(0);
        int c = in.size(1);
        ReferenceTensor g = ReferenceTensor.of(gamma);
        ReferenceTensor b = ReferenceTensor.of(beta);
        ReferenceTensor out = ReferenceTensor.of(y);
        ReferenceTensor centre = ReferenceTensor.of(mean);
        ReferenceTensor r = ReferenceTensor.of(reciprocalDeviation);
        if (residual != null) {
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
        ReferenceTensor in = ReferenceTensor.of(x);
        int n = in.size(0);
        int c = in.size(1);
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor g = ReferenceTensor.of(gamma);
        ReferenceTensor centre = ReferenceTensor.of(mean);
        ReferenceTensor r = ReferenceTensor.of(reciprocalDeviation);
        ReferenceTensor dIn = ReferenceTensor.of(dx);
        LayerNorm.backwardInput(dOut.floats(), in.floats(), g.floats(), centre.floats(), r.floats(), dIn.floats(),
                accumulate, n, c);
        dIn.settle();
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        ReferenceTensor in = ReferenceTensor.of(x);
        int n = in.size(0);
        int c = in.size(1);
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor centre = ReferenceTensor.of(mean);
        ReferenceTensor r = ReferenceTensor.of(reciprocalDeviation);
        ReferenceTensor dG = ReferenceTensor.of(dGamma);
        ReferenceTensor dB = ReferenceTensor.of(dBeta);
        LayerNorm.backwardWeight(dOut.floats(), in.floats(), centre.floats(), r.floats(), dG.floats(), dB.floats(), n,
                c);
        dG.settle();
        dB.settle();
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        ReferenceTensor out = ReferenceTensor.of(y);
        int n = out.size(0);
        int c = out.size(1);
        ReferenceTensor ids = ReferenceTensor.of(tokens);
        ReferenceTensor table = ReferenceTensor.of(tokenTable);
        double[] positions = null;
        if (positionTable != null) {
            positions = ReferenceTensor.of(positionTable).floats();
        }
        Embedding.forward(ids.ints(), table.floats(), positions, sequenceLength, out.floats(), c);
        out.settle();
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        int n = dOut.size(0);
        int c = dOut.size(1);
        ReferenceTensor ids = ReferenceTensor.of(tokens);
        ReferenceTensor table = ReferenceTensor.of(dTokenTable);
        ReferenceTensor positions = ReferenceTensor.of(dPositionTable);
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
        ReferenceTensor out = ReferenceTensor.of(y);
        CausalAttention attention = attention(out, sequenceLength, heads);
        ReferenceTensor in = ReferenceTensor.of(qkv);
        ReferenceTensor kept = ReferenceTensor.of(state);
        attention.forward(in.floats(), dropout, kept.floats(), out.floats());
        kept.settle();
        out.settle();
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        CausalAttention attention = attention(dOut, sequenceLength, heads);
        ReferenceTensor in = ReferenceTensor.of(qkv);
        ReferenceTensor kept = ReferenceTensor.of(state);
        ReferenceTensor dIn = ReferenceTensor.of(dQkv);
        attention.backward(dOut.floats(), in.floats(), kept.floats(), dropout, dIn.floats());
        dIn.settle();
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor out = ReferenceTensor.of(y);
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
        ReferenceTensor in = ReferenceTensor.of(logits);
        int n = in.size(0);
        int v = in.size(1);
        ReferenceTensor ids = ReferenceTensor.of(targets);
        ReferenceTensor loss = ReferenceTensor.of(rowLoss);
        ReferenceTensor logSum = ReferenceTensor.of(rowLogSumExp);
        CrossEntropy.forward(in.floats(), ids.ints(), loss.floats(), logSum.floats(), v);
        loss.settle();
        logSum.settle();
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        ReferenceTensor in = ReferenceTensor.of(logits);
        int n = in.size(0);
        int v = in.size(1);
        ReferenceTensor ids = ReferenceTensor.of(targets);
        ReferenceTensor logSum = ReferenceTensor.of(rowLogSumExp);
        ReferenceTensor dIn = ReferenceTensor.of(dLogits);
        CrossEntropy.backward(in.floats(), ids.ints(), logSum.floats(), scale, dIn.floats(), v);
        dIn.settle();
    }

    private static CausalAttention attention(ReferenceTensor y, int sequenceLength, int heads) {
        return new CausalAttention(y.size(0) / sequenceLength, sequenceLength, heads, y.size(1));
    }
}
