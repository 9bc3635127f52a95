package dev.troupe.engine.nd4j;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A step that calls every kernel once, on a model far too small to learn. B = 2 sequences, T = 70 positions (two blocks of
 * queries), C = 24, H = 3, V = 37.
 */
final class MiniStep implements AutoCloseable {
    private static final int T = 70;
    private static final int N = 2 * T;
    private static final int C = 24;
    private static final int H = 3;
    private static final int V = 37;

    private final Engine engine;
    private final Random random;
    private final List<Tensor> tensors = new ArrayList<>();
    private final Tensor tokens;
    private final Tensor tokenTable;
    private final Tensor positionTable;
    private final Tensor gamma;
    private final Tensor beta;
    private final Tensor weight;
    private final Tensor bias;
    private final Tensor x;
    private final Tensor y;
    private final Tensor h;
    private final Tensor dh;
    private final Tensor mean;
    private final Tensor deviation;
    private final Tensor qkv;
    private final Tensor dQkv;
    private final Tensor pre;
    private final Tensor state;
    private final Tensor logits;
    private final Tensor loss;
    private final Tensor logSumExp;
    private final Tensor dTable;
    private final Tensor dPositions;
    private final Tensor dGamma;
    private final Tensor dBeta;
    private final Tensor dWeight;
    private final Tensor dBias;
    private final Tensor first;
    private final Tensor second;
    private final Tensor velocity;
    private final Tensor sum;
    private long steps;

    MiniStep(Engine engine, long seed) {
        this.engine = engine;
        this.random = new Random(seed);
        tokens = zeros(DataType.INT32, N);
        engine.copyFromHost(MemorySegment.ofArray(random.ints(N, 0, V).toArray()), tokens, 0);
        tokenTable = numbers(V, C);
        positionTable = numbers(T + 1, C);
        gamma = numbers(C);
        beta = numbers(C);
        weight = numbers(C, 3 * C);
        bias = numbers(3 * C);
        x = zeros(DataType.FLOAT32, N, C);
        y = zeros(DataType.FLOAT32, N, C);
        h = zeros(DataType.FLOAT32, N, C);
        dh = zeros(DataType.FLOAT32, N, C);
        mean = zeros(DataType.FLOAT32, N);
        deviation = zeros(DataType.FLOAT32, N);
        qkv = zeros(DataType.FLOAT32, N, 3 * C);
        dQkv = zeros(DataType.FLOAT32, N, 3 * C);
        pre = zeros(DataType.FLOAT32, N, 3 * C);
        state = engine.allocate(DataType.FLOAT32, engine.attentionStateShape(2, T, H));
        tensors.add(state);
        logits = zeros(DataType.FLOAT32, N, V);
        loss = zeros(DataType.FLOAT32, N);
        logSumExp = zeros(DataType.FLOAT32, N);
        dTable = zeros(DataType.FLOAT32, V, C);
        dPositions = zeros(DataType.FLOAT32, T + 1, C);
        dGamma = zeros(DataType.FLOAT32, C);
        dBeta = zeros(DataType.FLOAT32, C);
        dWeight = zeros(DataType.FLOAT32, C, 3 * C);
        dBias = zeros(DataType.FLOAT32, 3 * C);
        first = zeros(DataType.FLOAT32, C, 3 * C);
        second = zeros(DataType.FLOAT32, C, 3 * C);
        velocity = zeros(DataType.FLOAT32, C, 3 * C);
        sum = zeros(DataType.FLOAT64, 1);
    }

    private Tensor zeros(DataType dataType, int... sizes) {
        Tensor tensor = engine.allocate(dataType, Shape.of(sizes));
        tensors.add(tensor);
        return tensor;
    }

    private Tensor numbers(int... sizes) {
        Tensor tensor = zeros(DataType.FLOAT32, sizes);
        float[] values = new float[(int) tensor.shape().elementCount()];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) random.nextGaussian() / 4;
        }
        engine.copyFromHost(MemorySegment.ofArray(values), tensor, 0);
        return tensor;
    }

    /** Runs it once; returns the sum of the losses. */
    double run() {
        engine.embedding(tokens, tokenTable, positionTable, T, x);
        engine.layerNorm(null, x, gamma, beta, 1e-5, y, mean, deviation);
        engine.linear(y, weight, false, bias, qkv);
        engine.causalAttention(qkv, T, H, state, h);
        engine.add(x, h, h);
        engine.linearGelu(h, weight, bias, pre, dQkv);
        engine.matmul(h, false, tokenTable, true, logits, false);
        engine.crossEntropy(logits, tokens, loss, logSumExp);
        double total = sum(() -> engine.sum(loss, sum, 0));

        engine.crossEntropyBackward(logits, tokens, logSumExp, 1.0 / N, logits);
        engine.fill(dTable, 0);
        engine.matmul(logits, true, h, false, dTable, true);
        engine.matmul(logits, false, tokenTable, false, dh, false);
        engine.geluBackward(pre, dQkv, dQkv);
        engine.causalAttentionBackward(dh, qkv, h, state, T, H, dQkv);
        engine.biasBackward(dQkv, dBias);
        engine.matmul(y, true, dQkv, false, dWeight, true);
        engine.layerNormBackwardWeight(dh, x, mean, deviation, dGamma, dBeta);
        engine.layerNormBackwardInput(dh, x, gamma, mean, deviation, h, true);
        engine.embeddingBackward(tokens, h, T, dTable, dPositions);
        double scale = 1 / (1 + Math.sqrt(sum(() -> engine.squaredSum(dWeight, sum, 0))));
        engine.adamW(weight, dWeight, first, second, new AdamW(1e-3, 0.9, 0.999, 1e-8, 0.1, ++steps, scale));
        engine.sgd(tokenTable, dTable, 1e-2, 0.1, scale);
        engine.sgdMomentum(weight, dWeight, velocity, new Momentum(1e-3, 0.9, true, 0.1, scale));
        engine.copy(dGamma, dBeta);
        engine.scale(dWeight, 0.5);
        engine.scale(dBias, 0.5);
        engine.fill(dPositions, 0);
        engine.fill(dGamma, 0);
        return total;
    }

    private double sum(Runnable kernel) {
        kernel.run();
        double[] found = new double[1];
        engine.copyToHost(sum, 0, MemorySegment.ofArray(found));
        return found[0];
    }

    byte[][] weights() {
        byte[][] bytes = new byte[2][];
        Tensor[] changed = {weight, tokenTable};
        for (int i = 0; i < changed.length; i++) {
            bytes[i] = new byte[(int) changed[i].byteCount()];
            engine.copyToHost(changed[i], 0, MemorySegment.ofArray(bytes[i]));
        }
        return bytes;
    }

    @Override
    public void close() {
        tensors.forEach(Tensor::close);
    }
}
