package dev.troupe.engine.nd4j;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.digest.TensorDigest;
import dev.troupe.engine.fallback.FallbackEngine;
import dev.troupe.engine.nd4j.CausalAttention.Operands;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The engine on ND4J. BLAS is column-major and tensors are row-major, so it computes a product C = A B as {@code C^T = B^T
 * A^T} over the same memory, without a copy.
 *
 * <p>Thread rule: as of {@link Engine}; several engines may compute at once, since they share nothing but ND4J.
 */
final class Nd4jEngine implements FallbackEngine {
    private final DataType parameterType;
    private final int threads;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Nd4jMemory memory = new Nd4jMemory();
    private final Scratch scratch;
    private final Operations operations;
    private final Activations activations;
    private final LayerNorm layerNorm;
    private final RmsNorm rmsNorm;
    private final Rotary rotary;
    private final CausalAttention attention;
    private final CrossEntropy crossEntropy;
    private final Embedding embedding;
    private final Optimizers optimizers;
    private final TensorDigest digest = new TensorDigest(this);
    private Thread caller;

    Nd4jEngine(DataType parameterType, int threads) {
        this.parameterType = parameterType;
        this.threads = threads;
        this.scratch = new Scratch(Nd4jMemory.nd4jType(parameterType));
        this.operations = new Operations();
        this.activations = new Activations(operations, scratch);
        this.layerNorm = new LayerNorm(operations, scratch);
        this.rmsNorm = new RmsNorm(operations, scratch);
        this.rotary = new Rotary(operations, scratch);
        this.attention = new CausalAttention(operations, scratch, Nd4jMemory.nd4jType(parameterType));
        this.crossEntropy = new CrossEntropy(operations, scratch);
        this.embedding = new Embedding(operations, scratch);
        this.optimizers = new Optimizers(operations, scratch);
    }

    @Override
    public String kind() {
        return Nd4jEngineProvider.KIND;
    }

    @Override
    public DataType parameterType() {
        return parameterType;
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        return memory.allocate(dataType, shape);
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        return new Nd4jTensor((Nd4jTensor) buffer, first, shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        MemorySegment.copy(Nd4jMemory.hostBytes((Nd4jTensor) source), byteOffset, target, 0, target.byteSize());
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        Nd4jTensor own = (Nd4jTensor) target;
        MemorySegment.copy(source, 0, Nd4jMemory.hostBytes(own), byteOffset, source.byteSize());
        Nd4jMemory.hostBytesWritten(own);
    }

    @Override
    public void fill(Tensor tensor, double value) {
        operations.fill(value, of(tensor).flat());
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        operations.copy(of(source).flat(), of(target).flat());
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        operations.add(of(left).flat(), of(right).flat(), of(sum).flat());
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        operations.scale(factor, of(tensor).flat());
    }

    @Override
    public void sum(Tensor tensor, Tensor sums, int index) {
        HostSums.put(HostSums.sum(of(tensor)), of(sums), index);
    }

    @Override
    public void squaredSum(Tensor tensor, Tensor sums, int index) {
        HostSums.put(HostSums.squaredSum(of(tensor)), of(sums), index);
    }

    @Override
    public void digest(Tensor tensor, Tensor digests, int index) {
        digest.write(tensor, digests, index);
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        Nd4jTensor a = of(left);
        Nd4jTensor b = of(right);
        operations.multiplyMatrices(1, transposeRight ? b.matrix() : b.transposed(),
                transposeLeft ? a.matrix() : a.transposed(), accumulate ? 1 : 0, of(product).transposed());
    }

    @Override
    public void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        Nd4jTensor w = of(weight);
        Nd4jTensor out = of(y);
        operations.repeatRow(of(bias).flat(), out.matrix());
        operations.multiplyMatrices(1, transposeWeight ? w.matrix() : w.transposed(), of(x).transposed(), 1,
                out.transposed());
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        activations.gelu(of(preActivation).flat(), of(y).flat());
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        activations.geluBackward(of(preActivation).flat(), of(dy).flat(), of(dx).flat());
    }

    @Override
    public void swiGlu(Tensor gate, Tensor up, Tensor y) {
        activations.swiGlu(of(gate).flat(), of(up).flat(), of(y).flat());
    }

    @Override
    public void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        activations.swiGluBackward(of(gate).flat(), of(up).flat(), of(dy).flat(), of(dGate).flat(), of(dUp).flat());
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        Nd4jTensor dOut = of(dy);
        operations.weighRows(1, dOut.transposed(), scratch.ones(dOut.size(0)), 1, of(dBias).views());
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        Nd4jTensor in = of(x);
        if (residual != null) {
            operations.add(of(residual).flat(), in.flat(), in.flat());
        }
        layerNorm.forward(in, of(gamma), of(beta), epsilon, of(y), of(mean), of(reciprocalDeviation));
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        layerNorm.backwardInput(of(dy), of(x), of(gamma), of(mean), of(reciprocalDeviation), of(dx), accumulate);
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        layerNorm.backwardWeight(of(dy), of(x), of(mean), of(reciprocalDeviation), of(dGamma), of(dBeta));
    }

    @Override
    public void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot) {
        Nd4jTensor in = of(x);
        if (residual != null) {
            operations.add(of(residual).flat(), in.flat(), in.flat());
        }
        rmsNorm.forward(in, of(gamma), epsilon, of(y), of(reciprocalRoot));
    }

    @Override
    public void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        rmsNorm.backwardInput(of(dy), of(x), of(gamma), of(reciprocalRoot), of(dx), accumulate);
    }

    @Override
    public void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        rmsNorm.backwardWeight(of(dy), of(x), of(reciprocalRoot), of(dGamma));
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        embedding.forward(of(tokens), of(tokenTable), ofNullable(positionTable), sequenceLength, of(y));
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        embedding.backward(of(tokens), of(dy), sequenceLength, of(dTokenTable), ofNullable(dPositionTable));
    }

    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return CausalAttention.stateShape(microbatchSize, sequenceLength, heads);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        requireNone(dropout);
        attention.forward(Operands.packed(of(qkv)), null, sequenceLength, heads, of(state), of(y));
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        requireNone(dropout);
        attention.backward(of(dy), Operands.packed(of(qkv)), of(state), sequenceLength, heads,
                Operands.packed(of(dQkv)));
    }

    @Override
    public void groupedAttention(Tensor queries, Tensor keys, Tensor values, Tensor starts, int sequenceLength,
            int heads, int keyValueHeads, Dropout dropout, Tensor state, Tensor y) {
        requireNone(dropout);
        attention.forward(Operands.apart(of(queries), of(keys), of(values), heads / keyValueHeads), ofNullable(starts),
                sequenceLength, heads, of(state), of(y));
    }

    @Override
    public void groupedAttentionBackward(Tensor dy, Tensor queries, Tensor keys, Tensor values, Tensor starts,
            Tensor y, Tensor state, int sequenceLength, int heads, int keyValueHeads, Dropout dropout,
            Tensor dQueries, Tensor dKeys, Tensor dValues) {
        requireNone(dropout);
        int sharing = heads / keyValueHeads;
        attention.backward(of(dy), Operands.apart(of(queries), of(keys), of(values), sharing), of(state),
                sequenceLength, heads, Operands.apart(of(dQueries), of(dKeys), of(dValues), sharing));
    }

    @Override
    public void cachedAttention(Tensor queries, Tensor keys, Tensor values, int length, int heads, int keyValueHeads,
            Tensor y) {
        int rows = y.shape().size(0);
        int width = y.shape().size(1);
        Shape one = Shape.of(1, width);
        for (int row = 0; row < rows; row++) {
            Tensor query = rows == 1 ? queries : range(queries, (long) row * width, one);
            Tensor out = rows == 1 ? y : range(y, (long) row * width, one);
            attention.last(Operands.apart(of(query), of(keys), of(values), heads / keyValueHeads),
                    length - rows + row + 1, heads, of(out));
        }
    }

    @Override
    public void rotary(Tensor x, Tensor starts, int sequenceLength, Tensor cosines, Tensor sines, int headSize,
            boolean back, Tensor y) {
        boolean turnsPart = 2 * cosines.shape().size(1) < headSize;
        if (turnsPart && x != y) {
            copy(x, y);
        }
        rotary.turn(of(turnsPart ? y : x), ofNullable(starts), sequenceLength, of(cosines), of(sines), headSize, back,
                of(y));
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        requireNone(dropout);
        copy(x, y);
    }

    private static void requireNone(Dropout dropout) {
        if (dropout.drops()) {
            // ND4J's own random numbers are a sequence, not a function of a place.
            throw new IllegalArgumentException("the engine nd4j has no dropout, but was asked for a probability of "
                    + dropout.probability() + ": take the engine cpu or reference");
        }
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        crossEntropy.forward(of(logits), of(targets), of(rowLoss), of(rowLogSumExp));
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        crossEntropy.backward(of(logits), of(targets), of(rowLogSumExp), scale, of(dLogits));
    }

    @Override
    public void shardSum(Tensor rowLogSumExp, Tensor highest, Tensor sums) {
        crossEntropy.shardSum(of(rowLogSumExp), of(highest), of(sums));
    }

    @Override
    public void joinShards(Tensor targets, Tensor highest, Tensor sums, Tensor rowLoss, Tensor rowLogSumExp) {
        crossEntropy.joinShards(of(targets), of(highest), of(sums), of(rowLoss), of(rowLogSumExp));
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        optimizers.adamW(of(weights), of(gradients), of(firstMoment), of(secondMoment), update);
        copyTo(operands, weights);
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale,
            Tensor operands) {
        optimizers.sgd(of(weights).flat(), of(gradients).flat(), learningRate, weightDecay, gradientScale);
        copyTo(operands, weights);
    }

    @Override
    public void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        optimizers.sgdMomentum(of(weights), of(gradients), of(velocity), update);
        copyTo(operands, weights);
    }

    /** Copies updated weights to the operands of products, which have the same type. */
    private void copyTo(Tensor operands, Tensor weights) {
        if (operands != null) {
            copy(weights, operands);
        }
    }

    @Override
    public void close() {
        memory.close();
        if (closed.compareAndSet(false, true)) {
            attention.close();
            scratch.close();
            Nd4jLibrary.engineCloses();
        }
    }

    private Nd4jTensor ofNullable(Tensor operand) {
        return operand == null ? null : of(operand);
    }

    /** An operand of a kernel; sets up ND4J for the calling thread. */
    private Nd4jTensor of(Tensor operand) {
        if (caller != Thread.currentThread()) {
            caller = Thread.currentThread();
            Nd4jLibrary.calledFromThisThread(threads);
        }
        return (Nd4jTensor) operand;
    }
}
