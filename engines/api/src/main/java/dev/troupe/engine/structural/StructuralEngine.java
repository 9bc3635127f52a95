package dev.troupe.engine.structural;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.TooManyElementsException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An engine that computes nothing: its tensors have shapes and no memory, and each of its kernels is a {@link #work} of
 * some {@link Cost}, so that a kernel which the contract gains does not compile here before it has one. Sums are 0.
 */
public abstract class StructuralEngine implements Engine {
    private final DataType parameterType;
    private final DataType computeType;
    private final AtomicLong allocatedBytes = new AtomicLong();

    /** An engine with no tensors, of these types. */
    protected StructuralEngine(DataType parameterType, DataType computeType) {
        this.parameterType = parameterType;
        this.computeType = computeType;
    }

    /** A kernel is called; what its operands hold means nothing. */
    protected abstract void work(Kernel kernel, Cost cost);

    /** Counts bytes beside those of tensors. */
    protected final void keep(long bytes) {
        allocatedBytes.addAndGet(bytes);
    }

    /** Whether a tensor of this engine is a range. */
    protected static boolean isRange(Tensor tensor) {
        return ((StructuralTensor) tensor).isRange();
    }

    @Override
    public final DataType parameterType() {
        return parameterType;
    }

    @Override
    public final DataType computeType() {
        return computeType;
    }

    @Override
    public final boolean holdsValues() {
        return false;
    }

    @Override
    public final Tensor allocate(DataType dataType, Shape shape) {
        TooManyElementsException.check(shape);
        return StructuralTensor.counted(dataType, shape, allocatedBytes);
    }

    @Override
    public final Tensor range(Tensor buffer, long first, Shape shape) {
        return StructuralTensor.range((StructuralTensor) buffer, shape);
    }

    @Override
    public final Tensor beginning(Tensor buffer, Shape shape) {
        return StructuralTensor.beginning((StructuralTensor) buffer, shape);
    }

    @Override
    public long allocatedBytes() {
        return allocatedBytes.get();
    }

    @Override
    public final void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        work(Kernel.COPY_TO_HOST, Cost.NO_PRODUCT);
    }

    @Override
    public final void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        work(Kernel.COPY_FROM_HOST, Cost.NO_PRODUCT);
    }

    @Override
    public final void fill(Tensor tensor, double value) {
        work(Kernel.FILL, Cost.NO_PRODUCT);
    }

    @Override
    public final void copy(Tensor source, Tensor target) {
        work(Kernel.COPY, Cost.NO_PRODUCT);
    }

    @Override
    public final void cast(Tensor source, Tensor target) {
        work(Kernel.CAST, Cost.NO_PRODUCT);
    }

    @Override
    public final void add(Tensor left, Tensor right, Tensor sum) {
        work(Kernel.ADD, Cost.NO_PRODUCT);
    }

    @Override
    public final void scale(Tensor tensor, double factor) {
        work(Kernel.SCALE, Cost.NO_PRODUCT);
    }

    @Override
    public final void sum(Tensor tensor, Tensor sums, int index) {
        work(Kernel.SUM, Cost.NO_PRODUCT);
    }

    @Override
    public final void squaredSum(Tensor tensor, Tensor sums, int index) {
        work(Kernel.SQUARED_SUM, Cost.NO_PRODUCT);
    }

    @Override
    public final void digest(Tensor tensor, Tensor digests, int index) {
        work(Kernel.DIGEST, Cost.NO_PRODUCT);
    }

    @Override
    public final void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        work(Kernel.MATMUL, Cost.Product.of(right, transposeRight, product));
    }

    @Override
    public final void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        work(Kernel.LINEAR, Cost.Product.of(weight, transposeWeight, y));
    }

    @Override
    public final void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        work(Kernel.LINEAR_GELU, Cost.Product.of(weight, false, preActivation));
    }

    @Override
    public final void gelu(Tensor preActivation, Tensor y) {
        work(Kernel.GELU, Cost.NO_PRODUCT);
    }

    @Override
    public final void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        work(Kernel.GELU_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void swiGlu(Tensor gate, Tensor up, Tensor y) {
        work(Kernel.SWI_GLU, Cost.NO_PRODUCT);
    }

    @Override
    public final void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        work(Kernel.SWI_GLU_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void biasBackward(Tensor dy, Tensor dBias) {
        work(Kernel.BIAS_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        work(Kernel.LAYER_NORM, Cost.NO_PRODUCT);
    }

    @Override
    public final void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        work(Kernel.LAYER_NORM_BACKWARD_INPUT, Cost.NO_PRODUCT);
    }

    @Override
    public final void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation,
            Tensor dGamma,
            Tensor dBeta) {
        work(Kernel.LAYER_NORM_BACKWARD_WEIGHT, Cost.NO_PRODUCT);
    }

    @Override
    public final void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate, Tensor dGamma, Tensor dBeta) {
        work(Kernel.LAYER_NORM_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y,
            Tensor reciprocalRoot) {
        work(Kernel.RMS_NORM, Cost.NO_PRODUCT);
    }

    @Override
    public final void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        work(Kernel.RMS_NORM_BACKWARD_INPUT, Cost.NO_PRODUCT);
    }

    @Override
    public final void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        work(Kernel.RMS_NORM_BACKWARD_WEIGHT, Cost.NO_PRODUCT);
    }

    @Override
    public final void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate, Tensor dGamma) {
        work(Kernel.RMS_NORM_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        work(Kernel.EMBEDDING, Cost.NO_PRODUCT);
    }

    @Override
    public final void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        work(Kernel.EMBEDDING_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state,
            Tensor y) {
        work(Kernel.CAUSAL_ATTENTION, Cost.NO_PRODUCT);
    }

    @Override
    public final void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength,
            int heads,
            Dropout dropout, Tensor dQkv) {
        work(Kernel.CAUSAL_ATTENTION_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        work(Kernel.GROUPED_ATTENTION, Cost.NO_PRODUCT);
    }

    @Override
    public final void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout, Tensor dQueries,
            Tensor dKeys, Tensor dValues) {
        work(Kernel.GROUPED_ATTENTION_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void cachedAttention(Tensor query, Tensor keys, Tensor values, int length, int heads,
            int keyValueHeads, Tensor y) {
        work(Kernel.CACHED_ATTENTION, Cost.NO_PRODUCT);
    }

    @Override
    public final void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, boolean back,
            Tensor y) {
        work(Kernel.ROTARY, Cost.NO_PRODUCT);
    }

    @Override
    public final void dropout(Tensor x, Dropout dropout, Tensor y) {
        work(Kernel.DROPOUT, Cost.NO_PRODUCT);
    }

    @Override
    public final void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        work(Kernel.CROSS_ENTROPY, Cost.NO_PRODUCT);
    }

    @Override
    public final void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale,
            Tensor dLogits) {
        work(Kernel.CROSS_ENTROPY_BACKWARD, Cost.NO_PRODUCT);
    }

    @Override
    public final void crossEntropyBoth(Tensor logits, Tensor targets, double scale, Tensor rowLoss,
            Tensor rowLogSumExp) {
        work(Kernel.CROSS_ENTROPY_BOTH, Cost.NO_PRODUCT);
    }

    @Override
    public final void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        work(Kernel.SHARD_SUM, Cost.NO_PRODUCT);
    }

    @Override
    public final void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        work(Kernel.JOIN_SHARDS, Cost.NO_PRODUCT);
    }

    @Override
    public final void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        work(Kernel.ADAM_W, Cost.NO_PRODUCT);
    }

    @Override
    public final void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay,
            double gradientScale, Tensor operands) {
        work(Kernel.SGD, Cost.NO_PRODUCT);
    }

    @Override
    public final void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        work(Kernel.SGD_MOMENTUM, Cost.NO_PRODUCT);
    }

    @Override
    public final void close() {
        // There is no memory to give back.
    }
}
