package dev.troupe.engine.reference;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.CausalAttention.Heads;
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
    public void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor w = ReferenceTensor.of(weight);
        ReferenceTensor b = ReferenceTensor.of(bias);
        ReferenceTensor out = ReferenceTensor.of(y);
        MatrixProduct.linear(in.floats(), w.floats(), transposeWeight, b.floats(), out.floats(), in.size(0), in.size(1),
                out.size(1));
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
        MatrixProduct.linear(in.floats(), w.floats(), false, b.floats(), pre.floats(), n, k, m);
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
    public void swiGlu(Tensor gate, Tensor up, Tensor y) {
        ReferenceTensor out = ReferenceTensor.of(y);
        SwiGlu.forward(ReferenceTensor.of(gate).floats(), ReferenceTensor.of(up).floats(), out.floats());
        out.settle();
    }

    @Override
    public void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        ReferenceTensor in = ReferenceTensor.of(gate);
        ReferenceTensor factor = ReferenceTensor.of(up);
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor dIn = ReferenceTensor.of(dGate);
        ReferenceTensor dFactor = ReferenceTensor.of(dUp);
        SwiGlu.backward(in.floats(), factor.floats(), dOut.floats(), dIn.floats(), dFactor.floats());
        dIn.settle();
        dFactor.settle();
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
    public void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot) {
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor g = ReferenceTensor.of(gamma);
        ReferenceTensor out = ReferenceTensor.of(y);
        ReferenceTensor r = ReferenceTensor.of(reciprocalRoot);
        if (residual != null) {
            add(residual, x, x);
        }
        RmsNorm.forward(in.floats(), g.floats(), epsilon, out.floats(), r.floats());
        out.settle();
        r.settle();
    }

    @Override
    public void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor g = ReferenceTensor.of(gamma);
        ReferenceTensor r = ReferenceTensor.of(reciprocalRoot);
        ReferenceTensor dIn = ReferenceTensor.of(dx);
        RmsNorm.backwardInput(dOut.floats(), in.floats(), g.floats(), r.floats(), dIn.floats(), accumulate);
        dIn.settle();
    }

    @Override
    public void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor r = ReferenceTensor.of(reciprocalRoot);
        ReferenceTensor dG = ReferenceTensor.of(dGamma);
        RmsNorm.backwardWeight(dOut.floats(), in.floats(), r.floats(), dG.floats());
        dG.settle();
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
        ReferenceTensor positions = dPositionTable == null ? null : ReferenceTensor.of(dPositionTable);
        Embedding.backward(ids.ints(), dOut.floats(), sequenceLength, table.floats(),
                positions == null ? null : positions.floats(), c);
        table.settle();
        if (positions != null) {
            positions.settle();
        }
    }

    /** The probabilities, [B x H x T x T]. */
    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength, sequenceLength);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        ReferenceTensor out = ReferenceTensor.of(y);
        ReferenceTensor kept = ReferenceTensor.of(state);
        packed(ReferenceTensor.of(qkv), sequenceLength, heads).forward(dropout, kept.floats(), out.floats());
        kept.settle();
        out.settle();
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor kept = ReferenceTensor.of(state);
        ReferenceTensor dIn = ReferenceTensor.of(dQkv);
        packed(ReferenceTensor.of(qkv), sequenceLength, heads).backward(dOut.floats(), kept.floats(), dropout,
                dIn.floats(), dIn.floats(), dIn.floats());
        dIn.settle();
    }

    private static CausalAttention packed(ReferenceTensor qkv, int t, int heads) {
        int c = qkv.size(1) / 3;
        double[] elements = qkv.floats();
        return new CausalAttention(qkv.size(0) / t, t, heads, c / heads, new Heads(elements, 3 * c, 0, 1),
                new Heads(elements, 3 * c, c, 1), new Heads(elements, 3 * c, 2 * c, 1), null);
    }

    @Override
    public void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        ReferenceTensor out = ReferenceTensor.of(y);
        ReferenceTensor kept = ReferenceTensor.of(state);
        grouped(queries, keys, values, starts, sequenceLength, heads, keyValueHeads).forward(dropout, kept.floats(),
                out.floats());
        kept.settle();
        out.settle();
    }

    @Override
    public void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout,
            Tensor dQueries, Tensor dKeys, Tensor dValues) {
        ReferenceTensor dOut = ReferenceTensor.of(dy);
        ReferenceTensor kept = ReferenceTensor.of(state);
        ReferenceTensor dQ = ReferenceTensor.of(dQueries);
        ReferenceTensor dK = ReferenceTensor.of(dKeys);
        ReferenceTensor dV = ReferenceTensor.of(dValues);
        grouped(queries, keys, values, starts, sequenceLength, heads, keyValueHeads).backward(dOut.floats(),
                kept.floats(), dropout, dQ.floats(), dK.floats(), dV.floats());
        dQ.settle();
        dK.settle();
        dV.settle();
    }

    @Override
    public void cachedAttention(Tensor query, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y) {
        ReferenceTensor out = ReferenceTensor.of(y);
        grouped(query, keys, values, null, length, heads, keyValueHeads).last(out.floats());
        out.settle();
    }

    private static CausalAttention grouped(Tensor queries, Tensor keys, Tensor values, Tensor starts, int t, int heads,
            int keyValueHeads) {
        ReferenceTensor q = ReferenceTensor.of(queries);
        ReferenceTensor k = ReferenceTensor.of(keys);
        ReferenceTensor v = ReferenceTensor.of(values);
        int sharing = heads / keyValueHeads;
        return new CausalAttention(q.size(0) / t, t, heads, q.size(1) / heads, new Heads(q.floats(), q.size(1), 0, 1),
                new Heads(k.floats(), k.size(1), 0, sharing), new Heads(v.floats(), v.size(1), 0, sharing),
                intsOrNull(starts));
    }

    private static int[] intsOrNull(Tensor tensor) {
        return tensor == null ? null : ReferenceTensor.of(tensor).ints();
    }

    @Override
    public void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, boolean back,
            Tensor y) {
        ReferenceTensor in = ReferenceTensor.of(x);
        ReferenceTensor cos = ReferenceTensor.of(cosines);
        ReferenceTensor sin = ReferenceTensor.of(sines);
        ReferenceTensor out = ReferenceTensor.of(y);
        Rotary.turn(in.floats(), in.size(1), intsOrNull(starts), sequenceLength, cos.floats(), sin.floats(),
                cos.size(1), back, out.floats());
        out.settle();
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

    @Override
    public void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        ReferenceTensor out = ReferenceTensor.of(sums);
        CrossEntropy.shardSum(ReferenceTensor.of(rowLogSumExp).floats(), ReferenceTensor.of(highest).floats(),
                out.floats());
        out.settle();
    }

    @Override
    public void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        ReferenceTensor loss = ReferenceTensor.of(rowLoss);
        ReferenceTensor logSum = ReferenceTensor.of(rowLogSumExp);
        CrossEntropy.joinShards(ReferenceTensor.of(targets).ints(), ReferenceTensor.of(highest).floats(),
                ReferenceTensor.of(sums).floats(), loss.floats(), logSum.floats());
        loss.settle();
        logSum.settle();
    }
}
