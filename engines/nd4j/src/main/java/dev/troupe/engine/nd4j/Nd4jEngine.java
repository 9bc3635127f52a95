package dev.troupe.engine.nd4j;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Ranges;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An engine on ND4J. BLAS is column-major and tensors are row-major, so a product C = A B is given to it as {@code C^T =
 * B^T A^T} over the same memory, which needs no copy.
 *
 * <p>Thread rule: that of {@link Engine}; several engines may compute at once, since they share nothing but ND4J.
 */
final class Nd4jEngine implements Engine {
    private final DataType parameterType;
    private final int threads;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final Nd4jMemory memory = new Nd4jMemory();
    private final Scratch scratch;
    private final Operations operations;
    private final Gelu gelu;
    private final LayerNorm layerNorm;
    private final CausalAttention attention;
    private final CrossEntropy crossEntropy;
    private final Embedding embedding;
    private final Optimizers optimizers;
    private Thread caller;

    Nd4jEngine(DataType parameterType, int threads) {
        this.parameterType = parameterType;
        this.threads = threads;
        this.scratch = new Scratch(Nd4jMemory.nd4jType(parameterType));
        this.operations = new Operations();
        this.gelu = new Gelu(operations, scratch);
        this.layerNorm = new LayerNorm(operations, scratch);
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
        Nd4jTensor whole = new Operands(memory, parameterType, "range").own("buffer", buffer);
        Ranges.requireWithin(whole, first, shape);
        return new Nd4jTensor(whole, first, shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        Nd4jTensor own = new Operands(memory, parameterType, "copyToHost").bytes("source", source, byteOffset,
                target.byteSize());
        MemorySegment.copy(Nd4jMemory.hostBytes(own), byteOffset, target, 0, target.byteSize());
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        Nd4jTensor own = new Operands(memory, parameterType, "copyFromHost").bytes("target", target, byteOffset,
                source.byteSize());
        MemorySegment.copy(source, 0, Nd4jMemory.hostBytes(own), byteOffset, source.byteSize());
        Nd4jMemory.hostBytesWritten(own);
    }

    @Override
    public void fill(Tensor tensor, double value) {
        operands("fill").floats("tensor", tensor).flat().assign(value);
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        Operands operands = operands("copy");
        Nd4jTensor from = operands.own("source", source);
        Nd4jTensor to = operands.exactly("target", target, from.dataType(), from.shape());
        operations.copy(from.flat(), to.flat());
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        Operands operands = operands("add");
        Nd4jTensor a = operands.floats("left", left);
        Nd4jTensor b = operands.like("right", right, a);
        operations.add(a.flat(), b.flat(), operands.like("sum", sum, a).flat());
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        operations.scale(factor, operands("scale").floats("tensor", tensor).flat());
    }

    @Override
    public double sum(Tensor tensor) {
        return HostSums.sum(operands("sum").floats("tensor", tensor));
    }

    @Override
    public double squaredSum(Tensor tensor) {
        return HostSums.squaredSum(operands("squaredSum").floats("tensor", tensor));
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        Operands operands = operands("matmul");
        Nd4jTensor a = operands.matrix("left", left);
        Nd4jTensor b = operands.matrix("right", right);
        int k = a.size(transposeLeft ? 0 : 1);
        operands.require(b.size(transposeRight ? 1 : 0) == k, "right",
                "must have " + k + (transposeRight ? " columns" : " rows"), right);
        Nd4jTensor out = operands.floats("product", product, a.size(transposeLeft ? 1 : 0),
                b.size(transposeRight ? 0 : 1));
        operands.apart("product", out, a, b);
        operations.multiplyMatrices(1, transposeRight ? b.matrix() : b.transposed(),
                transposeLeft ? a.matrix() : a.transposed(), accumulate ? 1 : 0, out.transposed());
    }

    @Override
    public void linear(Tensor x, Tensor weight, Tensor bias, Tensor y) {
        linear(operands("linear"), x, weight, bias, "y", y);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        Operands operands = operands("linearGelu");
        Nd4jTensor pre = operands.floats("preActivation", preActivation);
        Nd4jTensor out = operands.like("y", y, pre);
        operands.apart("y", out, pre, operands.own("x", x), operands.own("weight", weight));
        linear(operands, x, weight, bias, "preActivation", preActivation);
        gelu.forward(pre.flat(), out.flat());
    }

    private void linear(Operands operands, Tensor x, Tensor weight, Tensor bias, String outputName, Tensor output) {
        Nd4jTensor in = operands.matrix("x", x);
        Nd4jTensor w = operands.matrix("weight", weight);
        operands.require(w.size(0) == in.size(1), "weight", "must have %d rows, the columns of x".formatted(in.size(
                1)), weight);
        Nd4jTensor b = operands.floats("bias", bias, w.size(1));
        Nd4jTensor out = operands.floats(outputName, output, in.size(0), w.size(1));
        operands.apart(outputName, out, in, w, b);
        operations.repeatRow(b.flat(), out.matrix());
        operations.multiplyMatrices(1, w.transposed(), in.transposed(), 1, out.transposed());
    }

    @Override
    public void gelu(Tensor preActivation, Tensor y) {
        Operands operands = operands("gelu");
        Nd4jTensor pre = operands.matrix("preActivation", preActivation);
        gelu.forward(pre.flat(), operands.like("y", y, pre).flat());
    }

    @Override
    public void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        Operands operands = operands("geluBackward");
        Nd4jTensor pre = operands.floats("preActivation", preActivation);
        Nd4jTensor dOut = operands.like("dy", dy, pre);
        gelu.backward(pre.flat(), dOut.flat(), operands.like("dx", dx, pre).flat());
    }

    @Override
    public void biasBackward(Tensor dy, Tensor dBias) {
        Operands operands = operands("biasBackward");
        Nd4jTensor dOut = operands.matrix("dy", dy);
        Nd4jTensor d = operands.floats("dBias", dBias, dOut.size(1));
        operations.weighRows(1, dOut.transposed(), scratch.ones(dOut.size(0)), 1, d.views());
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        Operands operands = operands("layerNorm");
        Nd4jTensor in = operands.matrix("x", x);
        Nd4jTensor g = operands.floats("gamma", gamma, in.size(1));
        Nd4jTensor b = operands.floats("beta", beta, in.size(1));
        Nd4jTensor out = operands.like("y", y, in);
        Nd4jTensor centre = operands.floats("mean", mean, in.size(0));
        Nd4jTensor r = operands.floats("reciprocalDeviation", reciprocalDeviation, in.size(0));
        operands.apart("y", out, in);
        if (residual != null) {
            operations.add(operands.like("residual", residual, in).flat(), in.flat(), in.flat());
        }
        layerNorm.forward(in, g, b, epsilon, out, centre, r);
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        Operands operands = operands("layerNormBackwardInput");
        Nd4jTensor in = operands.matrix("x", x);
        Nd4jTensor dOut = operands.like("dy", dy, in);
        Nd4jTensor g = operands.floats("gamma", gamma, in.size(1));
        Nd4jTensor centre = operands.floats("mean", mean, in.size(0));
        Nd4jTensor r = operands.floats("reciprocalDeviation", reciprocalDeviation, in.size(0));
        Nd4jTensor dIn = operands.like("dx", dx, in);
        operands.apart("dx", dIn, in);
        if (accumulate) {
            operands.apart("dx", dIn, dOut);
        }
        layerNorm.backwardInput(dOut, in, g, centre, r, dIn, accumulate);
    }

    @Override
    public void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        Operands operands = operands("layerNormBackwardWeight");
        Nd4jTensor in = operands.matrix("x", x);
        Nd4jTensor dOut = operands.like("dy", dy, in);
        Nd4jTensor centre = operands.floats("mean", mean, in.size(0));
        Nd4jTensor r = operands.floats("reciprocalDeviation", reciprocalDeviation, in.size(0));
        Nd4jTensor dG = operands.floats("dGamma", dGamma, in.size(1));
        Nd4jTensor dB = operands.floats("dBeta", dBeta, in.size(1));
        operands.apart("dGamma", dG, dB);
        layerNorm.backwardWeight(dOut, in, centre, r, dG, dB);
    }

    @Override
    public void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y) {
        Operands operands = operands("embedding");
        Nd4jTensor out = operands.matrix("y", y);
        int n = out.size(0);
        int c = out.size(1);
        operands.sequences(n, sequenceLength);
        Nd4jTensor ids = operands.ints("tokens", tokens, n);
        Nd4jTensor table = operands.table("tokenTable", tokenTable, 1, c);
        Nd4jTensor positions = positionTable == null
                ? null
                : operands.table("positionTable", positionTable, sequenceLength, c);
        embedding.forward(ids, table, positions, sequenceLength, out);
    }

    @Override
    public void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable,
            Tensor dPositionTable) {
        Operands operands = operands("embeddingBackward");
        Nd4jTensor dOut = operands.matrix("dy", dy);
        int n = dOut.size(0);
        int c = dOut.size(1);
        operands.sequences(n, sequenceLength);
        Nd4jTensor ids = operands.ints("tokens", tokens, n);
        Nd4jTensor table = operands.table("dTokenTable", dTokenTable, 1, c);
        Nd4jTensor positions = operands.table("dPositionTable", dPositionTable, sequenceLength, c);
        embedding.backward(ids, dOut, sequenceLength, table, positions);
    }

    @Override
    public Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads) {
        return CausalAttention.stateShape(microbatchSize, sequenceLength, heads);
    }

    @Override
    public void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y) {
        requireNone(dropout);
        Operands operands = operands("causalAttention");
        Nd4jTensor out = operands.matrix("y", y);
        Nd4jTensor kept = operands.attentionState(state, out, sequenceLength, heads);
        Nd4jTensor in = operands.floats("qkv", qkv, out.size(0), 3 * out.size(1));
        attention.forward(in, sequenceLength, heads, kept, out);
    }

    @Override
    public void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv) {
        requireNone(dropout);
        Operands operands = operands("causalAttentionBackward");
        Nd4jTensor dOut = operands.matrix("dy", dy);
        operands.like("y", y, dOut);
        Nd4jTensor kept = operands.attentionState(state, dOut, sequenceLength, heads);
        Nd4jTensor in = operands.floats("qkv", qkv, dOut.size(0), 3 * dOut.size(1));
        Nd4jTensor dIn = operands.like("dQkv", dQkv, in);
        operands.apart("dQkv", dIn, in);
        attention.backward(dOut, in, kept, sequenceLength, heads, dIn);
    }

    @Override
    public void dropout(Tensor x, Dropout dropout, Tensor y) {
        requireNone(dropout);
        copy(x, y);
    }

    private static void requireNone(Dropout dropout) {
        if (dropout.drops()) {
            // ND4J's own random numbers are a sequence, not a function of a place.
            throw new IllegalArgumentException("the engine nd4j does not drop out, but was asked for a probability of "
                    + dropout.probability() + ": take the engine cpu or reference");
        }
    }

    @Override
    public void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp) {
        Operands operands = operands("crossEntropy");
        Nd4jTensor in = operands.indexable("logits", logits);
        Nd4jTensor ids = operands.ints("targets", targets, in.size(0));
        Nd4jTensor loss = operands.floats("rowLoss", rowLoss, in.size(0));
        Nd4jTensor logSum = operands.floats("rowLogSumExp", rowLogSumExp, in.size(0));
        operands.apart("rowLoss", loss, logSum);
        crossEntropy.forward(in, ids, loss, logSum);
    }

    @Override
    public void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits) {
        Operands operands = operands("crossEntropyBackward");
        Nd4jTensor in = operands.indexable("logits", logits);
        Nd4jTensor ids = operands.ints("targets", targets, in.size(0));
        Nd4jTensor logSum = operands.floats("rowLogSumExp", rowLogSumExp, in.size(0));
        crossEntropy.backward(in, ids, logSum, scale, operands.like("dLogits", dLogits, in));
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update) {
        Operands operands = operands("adamW");
        Nd4jTensor w = operands.floats("weights", weights);
        Nd4jTensor g = operands.like("gradients", gradients, w);
        Nd4jTensor first = operands.like("firstMoment", firstMoment, w);
        Nd4jTensor second = operands.like("secondMoment", secondMoment, w);
        operands.apart("weights", w, g, first, second);
        operands.apart("firstMoment", first, g, second);
        operands.apart("secondMoment", second, g);
        optimizers.adamW(w, g, first, second, update);
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale) {
        Operands operands = operands("sgd");
        Nd4jTensor w = operands.floats("weights", weights);
        Nd4jTensor g = operands.like("gradients", gradients, w);
        operands.apart("weights", w, g);
        optimizers.sgd(w.flat(), g.flat(), learningRate, weightDecay, gradientScale);
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

    private Operands operands(String kernel) {
        if (caller != Thread.currentThread()) {
            caller = Thread.currentThread();
            Nd4jLibrary.calledFromThisThread(threads);
        }
        return new Operands(memory, parameterType, kernel);
    }
}
