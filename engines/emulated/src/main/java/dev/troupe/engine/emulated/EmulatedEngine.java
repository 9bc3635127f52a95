package dev.troupe.engine.emulated;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/** Computes nothing, beside an {@link EmulatedClock} that keeps the time. Every loss, sum and norm is 0. */
public final class EmulatedEngine implements Engine {
    private final EngineSettings settings;
    private final AtomicLong allocatedBytes = new AtomicLong();

    EmulatedEngine(EngineSettings settings) {
        this.settings = settings;
    }

    @Override
    public boolean computes() {
        return false;
    }

    @Override
    public String kind() {
        return EmulatedEngineProvider.KIND;
    }

    @Override
    public DataType parameterType() {
        return settings.parameterType();
    }

    @Override
    public DataType computeType() {
        return settings.computeType();
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        return new EmulatedTensor(dataType, shape, allocatedBytes);
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        return new EmulatedRange(buffer.dataType(), shape);
    }

    @Override
    public long allocatedBytes() {
        return allocatedBytes.get();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        // What is read here means nothing, so the target stays as it is: many ranks share few cores.
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
    }

    @Override
    public void fill(Tensor tensor, double value) {
    }

    @Override
    public void copy(Tensor source, Tensor target) {
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
    }

    @Override
    public void scale(Tensor tensor, double factor) {
    }

    @Override
    public double sum(Tensor tensor) {
        return 0;
    }

    @Override
    public double squaredSum(Tensor tensor) {
        return 0;
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
    }

    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return Shape.of(microbatchSize, heads, sequenceLength);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update) {
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale) {
    }

    @Override
    public void close() {
    }
}
