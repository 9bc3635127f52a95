package dev.troupe.engine;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Memory and kernels of one rank: all of its stages compute on one engine.
 *
 * <p>Shape letters: B microbatch size, T sequence length, N = B T rows, C hidden size, H heads, V vocabulary size, K and
 * M any size. All tensors are row-major. "Float tensor" means one of {@link #parameterType()}, "product tensor" one of
 * {@link #computeType()}. Where the two differ (mixed precision, Micikevicius et al. 2018), kernels compute and add up in
 * the float type whatever they read, and round each element of a product tensor once, when they store it, to the nearest
 * and to even; what a kernel keeps to itself on the way may be rounded too. In the kernels below activations and their
 * gradients are product tensors, and so are the operands of products; weights elsewhere, gradients of weights, biases,
 * what norms and losses keep of a row, and all that optimizers read are float tensors.
 *
 * <p>Thread rule: kernels and {@link #allocate} are called by one thread at a time. {@link #copyToHost} and
 * {@link #copyFromHost} may run on another thread meanwhile, on tensors no kernel is using.
 *
 * <p>Contract of every kernel: the caller allocates inputs and outputs; outputs are overwritten unless the kernel says
 * that it adds; an output shares no memory with another operand unless the kernel says it may; shapes that do not fit raise
 * {@link IllegalArgumentException} before anything is written. The same call on the same bytes gives the same bytes, on
 * every run. A kernel that returns nothing may still be running on a device; whatever reads a result waits for it.
 */
public interface Engine extends AutoCloseable {
    /** An id that is no row of a table here: another rank has the row, in its shard of the vocabulary. */
    int NOT_IN_SHARD = -1;

    /** The kind of this engine, as in {@code engine.kind}. */
    String kind();

    /** The type of weights, their gradients, and sums. */
    DataType parameterType();

    /** The type of activations and of what products read: {@link #parameterType} unless the engine mixes types. */
    default DataType computeType() {
        return parameterType();
    }

    /**
     * Whether tensors hold values and kernels compute them. Nothing need be loaded into an engine that
     * does not, and what is read from it means nothing.
     */
    default boolean computes() {
        return true;
    }

    /** A tensor filled with zeros. The caller closes it. */
    Tensor allocate(DataType dataType, Shape shape);

    /**
     * A tensor over neighbouring elements of another, in the same memory: what one writes the other reads. A kernel takes
     * it as any tensor. It is no allocation: {@link #allocatedBytes} counts its buffer alone, closing it has no effect, and
     * it ends with its buffer. Many small tensors that one kernel call is to serve are ranges of one.
     *
     * @param buffer
     *            an open tensor of this engine, itself a range or not
     * @param first
     *            its element, in row-major order, that the range begins with
     * @param shape
     *            of the range
     * @throws IllegalArgumentException
     *             where the buffer ends before the range does
     */
    Tensor range(Tensor buffer, long first, Shape shape);

    /**
     * Bytes that this engine keeps beside a range, in an order of its own, once the range has been the right side of a
     * product of so many rows; as much again once it has been that transposed. They end with the buffer.
     */
    default long bytesKeptBeside(Shape range, long rows) {
        return 0;
    }

    /**
     * Bytes of scratch memory that this engine takes for a product [m x k] [k x n], and holds from then on: the most that
     * any of its products took, and not their sum. They are not in {@link #allocatedBytes}.
     *
     * @param isRange
     *            whether the right side is a range, beside which {@link #bytesKeptBeside} says what is kept
     * @param product
     *            the type of the product
     */
    default long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return 0;
    }

    /** Bytes of all tensors allocated and not closed, with what is kept beside their ranges. */
    long allocatedBytes();

    /**
     * Copies {@code target.byteSize()} bytes (little-endian elements) of a tensor, from a byte offset, to host memory.
     * The memory may be native or on the heap and begin at any address.
     *
     * @throws IllegalArgumentException
     *             where the bytes are not whole elements of the tensor
     */
    void copyToHost(Tensor source, long byteOffset, MemorySegment target);

    /**
     * Copies {@code source.byteSize()} bytes (little-endian elements) of host memory to a byte offset of a tensor. The
     * memory may be native or on the heap and begin at any address.
     *
     * @throws IllegalArgumentException
     *             where the bytes are not whole elements of the tensor
     */
    void copyFromHost(MemorySegment source, Tensor target, long byteOffset);

    /**
     * The elements of a tensor themselves, where they lie in native memory of this process as {@link #copyToHost} would
     * copy them, so that nothing need be copied. What is written there is in the tensor. Empty where they lie elsewhere or
     * in another form.
     *
     * <p>Valid until the tensor is closed; used meanwhile by any thread, while no kernel uses the tensor.
     */
    default Optional<MemorySegment> hostMemory(Tensor tensor) {
        return Optional.empty();
    }

    /** Every element of a float tensor becomes {@code value}. */
    void fill(Tensor tensor, double value);

    /** Copies one tensor, of any type, to another of the same type and shape. */
    void copy(Tensor source, Tensor target);

    /**
     * Copies a tensor to another of the same shape, each of them a float tensor or a product tensor: to a narrower type
     * each element is rounded to the nearest, ties to even; what is too large becomes infinite, and what is not a number
     * stays so.
     */
    default void cast(Tensor source, Tensor target) {
        copy(source, target); // an engine of one type has nothing to round
    }

    /**
     * {@code sum = left + right}, element by element, all float tensors or all product tensors; {@code sum} may be either
     * of them.
     */
    void add(Tensor left, Tensor right, Tensor sum);

    /** {@code tensor *= factor} of a float tensor. */
    void scale(Tensor tensor, double factor);

    /** The sum of all elements of a float tensor, in float64, in a fixed order. */
    double sum(Tensor tensor);

    /**
     * The sum of the squares of all elements of a float tensor, in a fixed order; accurate to float64 or the best the
     * engine can do.
     */
    double squaredSum(Tensor tensor);

    /**
     * {@code product (+)= op(left) op(right)} for two-dimensional product tensors.
     *
     * @param left
     *            [M x K], or [K x M] when transposed
     * @param right
     *            [K x N], or [N x K] when transposed
     * @param product
     *            [M x N]: a product tensor, or a float tensor, which is not rounded
     * @param accumulate
     *            add to {@code product} instead of overwriting it; it is a float tensor then
     */
    void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate);

    /** {@code y = x weight + bias}: x [N x K], weight [K x M], bias [M], y [N x M]. */
    void linear(Tensor x, Tensor weight, Tensor bias, Tensor y);

    /**
     * {@code preActivation = x weight + bias; y = gelu(preActivation)} with the tanh form of GELU (Hendrycks and Gimpel
     * 2016): x [N x K], weight [K x M], bias [M], the others [N x M].
     */
    void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y);

    /**
     * {@code y = gelu(preActivation)}, both [N x M]: the very bytes that {@link #linearGelu} wrote to its y. {@code y} may
     * be {@code preActivation}.
     */
    void gelu(Tensor preActivation, Tensor y);

    /** {@code dx = dy gelu'(preActivation)}, all of one shape; {@code dx} may be {@code dy}. */
    void geluBackward(Tensor preActivation, Tensor dy, Tensor dx);

    /** Adds the column sums of dy [N x M] to dBias [M]. */
    void biasBackward(Tensor dy, Tensor dBias);

    /**
     * Layer norm of each row (Ba et al. 2016): x and y [N x C], gamma and beta [C]; writes each row's mean and
     * reciprocal standard deviation, [N] each, for the backward.
     *
     * @param residual
     *            [N x C], which is first added to x as {@link #add} does it, so that what joins a residual stream is
     *            normalized while it is at hand; null where x is read alone
     */
    void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation);

    /** The gradient for x of {@link #layerNorm}; with {@code accumulate} it is added to dx, which then may not be dy. */
    void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation, Tensor dx,
            boolean accumulate);

    /** Adds the gradients for gamma and beta of {@link #layerNorm}. */
    void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta);

    /**
     * {@code y[n] = tokenTable[tokens[n]] + positionTable[n mod T]}: tokens INT32 [N], tokenTable [V x C], positionTable
     * [at least T x C], y [N x C]. Tokens are valid; the caller has checked them. The row of a token {@link #NOT_IN_SHARD}
     * is taken as zeros, and so are all positions where positionTable is null.
     */
    void embedding(Tensor tokens, Tensor tokenTable, Tensor positionTable, int sequenceLength, Tensor y);

    /** Adds dy [N x C] to the rows that {@link #embedding} read, in the order of n; there are positions. */
    void embeddingBackward(Tensor tokens, Tensor dy, int sequenceLength, Tensor dTokenTable, Tensor dPositionTable);

    /** The shape of what this engine keeps between the forward and the backward of attention. */
    Shape attentionStateShape(int microbatchSize, int sequenceLength, int heads);

    /**
     * Causal attention of all heads (Vaswani et al. 2017) with scale {@code 1 / sqrt(C / H)}.
     *
     * @param qkv
     *            [N x 3C]: queries, keys, values side by side; head h has columns h C/H .. (h+1) C/H of each
     * @param state
     *            of {@link #attentionStateShape}, written here and read by the backward
     * @param y
     *            [N x C], heads side by side
     */
    default void causalAttention(Tensor qkv, int sequenceLength, int heads, Tensor state, Tensor y) {
        causalAttention(qkv, sequenceLength, heads, Dropout.NONE, state, y);
    }

    /**
     * As the other {@code causalAttention}, with dropout on the probabilities.
     *
     * @param dropout
     *            what goes of the probabilities
     */
    void causalAttention(Tensor qkv, int sequenceLength, int heads, Dropout dropout, Tensor state, Tensor y);

    /** The gradient for qkv of {@link #causalAttention}: dy and y [N x C], dQkv [N x 3C]. */
    default void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Tensor dQkv) {
        causalAttentionBackward(dy, qkv, y, state, sequenceLength, heads, Dropout.NONE, dQkv);
    }

    /** The gradient for qkv of {@link #causalAttention} with the same dropout. */
    void causalAttentionBackward(Tensor dy, Tensor qkv, Tensor y, Tensor state, int sequenceLength, int heads,
            Dropout dropout, Tensor dQkv);

    /**
     * {@code y = x factor}, both [N x M], the factors those of the dropout; {@code y} may be {@code x}. The backward is the
     * same kernel on the gradient.
     */
    void dropout(Tensor x, Dropout dropout, Tensor y);

    /**
     * Softmax cross-entropy of each row: logits [N x V], targets INT32 [N]; writes each row's loss and the logarithm of
     * its sum of exponentials, [N] each. The loss of a row whose target is {@link #NOT_IN_SHARD} is 0.
     */
    void crossEntropy(Tensor logits, Tensor targets, Tensor rowLoss, Tensor rowLogSumExp);

    /**
     * {@code dLogits = scale (exp(logits - rowLogSumExp) - onehot(targets))}, where nothing is one for a target
     * {@link #NOT_IN_SHARD}; {@code dLogits} may be {@code logits}.
     */
    void crossEntropyBackward(Tensor logits, Tensor targets, Tensor rowLogSumExp, double scale, Tensor dLogits);

    /** One AdamW update of weights and both moments, all of one shape; the gradients become zero. */
    void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update);

    /**
     * {@code weights -= learningRate (gradientScale gradients + weightDecay weights)}, as {@code torch.optim.SGD}; the
     * gradients become zero.
     */
    void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale);

    /** Gives back all memory, open tensors included. Closing twice has no effect. */
    @Override
    void close();
}
