package dev.troupe.engine;

/**
 * Memory and kernels of one rank: all of its stages compute on one engine. Kernels are in groups, an interface for each.
 *
 * <p>Shape letters: B microbatch size, T sequence length, N = B T rows, C hidden size, H heads, V vocabulary size, K and
 * M any size. All tensors are row-major. "Float tensor" means one of {@link #parameterType()}, "product tensor" one of
 * {@link #computeType()}. If the two differ (mixed precision, Micikevicius et al. 2018), kernels compute and add up in the
 * float type whatever they read, and round each element of a product tensor once, when they store it, to the nearest and to
 * even; values inside a kernel may be rounded too. Activations, their gradients and the operands of products are product
 * tensors; weights elsewhere, gradients of weights, biases, statistics of rows, and all operands of optimizers are float
 * tensors.
 *
 * <p>Thread rule: one thread at a time calls kernels; see {@link Memory} for other threads.
 *
 * <p>Contract of every kernel: the caller allocates inputs and outputs; outputs are overwritten unless the kernel adds by
 * its contract; an output shares no memory with another operand unless the kernel allows it; shapes that do not fit raise
 * {@link IllegalArgumentException} before anything is written. The same call on the same bytes gives the same bytes, on
 * every run. On an engine that {@linkplain Memory#computesLate() computes late} a kernel may return before it has run: the
 * host reads results by {@link Memory#copyToHost}, or after a {@link Fence}, and a failure is raised by a later call.
 */
public interface Engine
        extends
            Memory,
            MatrixKernels,
            NormKernels,
            AttentionKernels,
            TokenKernels,
            RoutingKernels,
            ElementwiseKernels,
            OptimizerKernels,
            AutoCloseable {
    /** The kind of this engine, as in {@code engine.kind}. */
    String kind();

    /** The type of weights, their gradients, and sums. */
    DataType parameterType();

    /** The type of activations and of operands of products: {@link #parameterType} unless the engine mixes types. */
    default DataType computeType() {
        return parameterType();
    }

    /** Frees all memory, open tensors included. Closing twice has no effect. */
    @Override
    void close();
}
