package dev.troupe.engine;

/**
 * Kernels that take elements one by one, of tensors of any shape where a kernel names none, and sums over all elements. The
 * contract of every kernel is {@link Engine}'s. Letters: N rows, M any size.
 */
public interface ElementwiseKernels {
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

    /**
     * {@code sums[index]} becomes the sum of all elements of a float tensor, in float64, in a fixed order. Sums stay with
     * the engine, so that the host reads many of them at once.
     *
     * @param sums FLOAT64, of one dimension
     */
    void sum(Tensor tensor, Tensor sums, int index);

    /**
     * {@code sums[index]} becomes the sum of the squares of all elements of a float tensor, in a fixed order; accurate to
     * float64 or the best the engine can do. Operands as of {@link #sum}.
     */
    void squaredSum(Tensor tensor, Tensor sums, int index);

    /**
     * Row {@code index} of {@code digests} becomes the digest of the bits of a tensor of any type,
     * {@link dev.troupe.engine.digest.BitHash#digest}: the lower 32 bits, then the upper ones. It stays with the engine, so
     * that the host reads many of them at once.
     *
     * @param digests INT32 [M x 2], no part of the tensor
     */
    void digest(Tensor tensor, Tensor digests, int index);

    /**
     * {@code y = gelu(preActivation)}, both [N x M]: the very bytes that {@link MatrixKernels#linearGelu} wrote to its
     * y. {@code y} may be {@code preActivation}.
     */
    void gelu(Tensor preActivation, Tensor y);

    /** {@code dx = dy gelu'(preActivation)}, all of one shape; {@code dx} may be {@code dy}. */
    void geluBackward(Tensor preActivation, Tensor dy, Tensor dx);

    /** {@code y = silu(gate) up} with {@code silu(x) = x / (1 + e^-x)} (Shazeer 2020), all [N x M]. */
    void swiGlu(Tensor gate, Tensor up, Tensor y);

    /** The gradients for gate and up of {@link #swiGlu}, all of one shape; dGate may be gate, and dUp may be up or dy. */
    void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp);

    /**
     * {@code y = x factor}, both [N x M], the factors those of the dropout; {@code y} may be {@code x}. The backward is the
     * same kernel on the gradient.
     */
    void dropout(Tensor x, Dropout dropout, Tensor y);
}
