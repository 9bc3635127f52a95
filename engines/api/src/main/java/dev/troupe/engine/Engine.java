package dev.troupe.engine;

/**
 * Memory and kernels of one rank: all of its stages compute on one engine. The kernels are in groups, an interface
 * each, which have their shapes.
 *
 * <p>Shape letters: B microbatch size, T sequence length, N = B T rows, C hidden size, H heads, V vocabulary size, K and
 * M any size. All tensors are row-major. "Float tensor" means one of {@link #parameterType()}, "product tensor" one of
 * {@link #computeType()}. Where the two differ (mixed precision, Micikevicius et al. 2018), kernels compute and add up in
 * the float type whatever they read, and round each element of a product tensor once, when they store it, to the nearest
 * and to even; what a kernel keeps to itself on the way may be rounded too. In the kernels activations and their
 * gradients are product tensors, and so are the operands of products; weights elsewhere, gradients of weights, biases,
 * what norms and losses keep of a row, and all that optimizers read are float tensors.
 *
 * <p>Thread rule: kernels are called by one thread at a time; {@link Memory} says what other threads may do meanwhile.
 *
 * <p>Contract of every kernel: the caller allocates inputs and outputs; outputs are overwritten unless the kernel says
 * that it adds; an output shares no memory with another operand unless the kernel says it may; shapes that do not fit raise
 * {@link IllegalArgumentException} before anything is written. The same call on the same bytes gives the same bytes, on
 * every run. A kernel may return before it has run, on an engine that {@linkplain Memory#computesLate() computes late}:
 * the host reads results by {@link Memory#copyToHost}, or behind a {@link Fence}. What fails then is raised by a later
 * call.
 */
public interface Engine
        extends
            Memory,
            MatrixKernels,
            NormKernels,
            AttentionKernels,
            TokenKernels,
            ElementwiseKernels,
            OptimizerKernels,
            AutoCloseable {
    /** The kind of this engine, as in {@code engine.kind}. */
    String kind();

    /** The type of weights, their gradients, and sums. */
    DataType parameterType();

    /** The type of activations and of what products read: {@link #parameterType} unless the engine mixes types. */
    default DataType computeType() {
        return parameterType();
    }

    /** Gives back all memory, open tensors included. Closing twice has no effect. */
    @Override
    void close();
}
