package dev.troupe.pulse;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * An engine whose kernels and copies beat a {@link Pulse}. Every method of an engine is here, the defaults too: a
 * missing one would run another kernel than the engine's own.
 *
 * @param engine
 *            the engine that computes
 * @param pulse
 *            the pulse of the engine's rank
 */
public record WatchedEngine(Engine engine, Pulse pulse) implements Engine {
    @Override
    public String kind() {
        return engine.kind();
    }

    @Override
    public DataType parameterType() {
        return engine.parameterType();
    }

    @Override
    public DataType computeType() {
        return engine.computeType();
    }

    @Override
    public boolean computes() {
        return engine.computes();
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        long begun = pulse.kernelBegins();
        Tensor result = engine.allocate(dataType, shape);
        pulse.kernelEnds(begun);
        return result;
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        return engine.range(buffer, first, shape);
    }

    @Override
    public long bytesKeptBeside(Shape range, long rows) {
        return engine.bytesKeptBeside(range, rows);
    }

    @Override
    public long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return engine.productScratchBytes(m, k, n, isRange, product);
    }

    @Override
    public long allocatedBytes() {
        return engine.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        long begun = pulse.kernelBegins();
        engine.copyToHost(source, byteOffset, target);
        pulse.kernelEnds(begun);
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        long begun = pulse.kernelBegins();
        engine.copyFromHost(source, target, byteOffset);
        pulse.kernelEnds(begun);
    }

    @Override
    public Optional<MemorySegment> hostMemory(Tensor tensor) {
        return engine.hostMemory(tensor);
    }

    @Override
    public void fill(Tensor tensor, double value) {
        long begun = pulse.kernelBegins();
        engine.fill(tensor, value);
        pulse.kernelEnds(begun);
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        long begun = pulse.kernelBegins();
        engine.copy(source, target);
        pulse.kernelEnds(begun);
    }

    @Override
    public void cast(Tensor source, Tensor target) {
        long begun = pulse.kernelBegins();
        engine.cast(source, target);
        pulse.kernelEnds(begun);
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        long begun = pulse.kernelBegins();
        engine.add(left, right, sum);
        pulse.kernelEnds(begun);
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        long begun = pulse.kernelBegins();
        engine.scale(tensor, factor);
        pulse.kernelEnds(begun);
    }

    @Override
    public double sum(Tensor tensor) {
        long begun = pulse.kernelBegins();
        double result = engine.sum(tensor);
        pulse.kernelEnds(begun);
        return result;
    }

    @Override
    public double squaredSum(Tensor tensor) {
        long begun = pulse.kernelBegins();
        double result = engine.squaredSum(tensor);
        pulse.kernelEnds(begun);
        return result;
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        long begun = pulse.kernelBegins();
        engine.matmul(left, transposeLeft, right, transposeRight, product, accumulate);
        pulse.kernelEnds(begun);
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
        long begun = pulse.kernelBegins();
        engine.linear(x, weight, bias, y);
        pulse.kernelEnds(begun);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        long begun = pulse.kernelBegins();
        engine.linearGelu(x, weight, bias, preActivation, y);
        pulse.kernelEnds(begun);
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        long begun = pulse.kernelBegins();
        engine.gelu(preActivation, y);
        pulse.kernelEnds(begun);
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        long begun = pulse.kernelBegins();
        engine.geluBackward(preActivation, dy, dx);
        pulse.kernelEnds(begun);
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        long begun = pulse.kernelBegins();
        engine.biasBackward(dy, dBias);
        pulse.kernelEnds(begun);
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation) {
        long begun = pulse.kernelBegins();
        engine.layerNorm(residual, x, gamma, beta, epsilon, y, mean, reciprocalDeviation);
        pulse.kernelEnds(begun);
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        long begun = pulse.kernelBegins();
        engine.layerNormBackwardInput(dy, x, gamma, mean, reciprocalDeviation, dx, accumulate);
        pulse.kernelEnds(begun);
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        long begun = pulse.kernelBegins();
        engine.layerNormBackwardWeight(dy, x, mean, reciprocalDeviation, dGamma, dBeta);
        pulse.kernelEnds(begun);
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        long begun = pulse.kernelBegins();
        engine.embedding(tokens, tokenTable, positionTable, sequenceLength, y);
        pulse.kernelEnds(begun);
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        long begun = pulse.kernelBegins();
        engine.embeddingBackward(tokens, dy, sequenceLength, dTokenTable, dPositionTable);
        pulse.kernelEnds(begun);
    }

    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return engine.attentionStateShape(microbatchSize, sequenceLength, heads);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Tensor state, Tensor y) {
        long begun = pulse.kernelBegins();
        engine.causalAttention(qkv, sequenceLength, heads, state, y);
        pulse.kernelEnds(begun);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        long begun = pulse.kernelBegins();
        engine.causalAttention(qkv, sequenceLength, heads, dropout, state, y);
        pulse.kernelEnds(begun);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Tensor dQkv) {
        long begun = pulse.kernelBegins();
        engine.causalAttentionBackward(dy, qkv, y, state, sequenceLength, heads, dQkv);
        pulse.kernelEnds(begun);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        long begun = pulse.kernelBegins();
        engine.causalAttentionBackward(dy, qkv, y, state, sequenceLength, heads, dropout, dQkv);
        pulse.kernelEnds(begun);
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        long begun = pulse.kernelBegins();
        engine.dropout(x, dropout, y);
        pulse.kernelEnds(begun);
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        long begun = pulse.kernelBegins();
        engine.crossEntropy(logits, targets, rowLoss, rowLogSumExp);
        pulse.kernelEnds(begun);
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        long begun = pulse.kernelBegins();
        engine.crossEntropyBackward(logits, targets, rowLogSumExp, scale, dLogits);
        pulse.kernelEnds(begun);
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update) {
        long begun = pulse.kernelBegins();
        engine.adamW(weights, gradients, firstMoment, secondMoment, update);
        pulse.kernelEnds(begun);
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale) {
        long begun = pulse.kernelBegins();
        engine.sgd(weights, gradients, learningRate, weightDecay, gradientScale);
        pulse.kernelEnds(begun);
    }

    @Override
    public void close() {
        engine.close();
    }
}
