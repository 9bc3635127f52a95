package dev.troupe.engine;

/**
 * Kernels on elements one by one, and sums over all elements; tensors have any shape if a kernel names none. The contract of
 * every kernel is {@link Engine}'s. Letters: N rows, M any size.
 */
public interface ElementwiseKernels {
    /** Sets every element of a float tensor to {@code value}. */
    void fill(Tensor tensor, double value);

    /** Copies one tensor, of any type, to another of the same type and shape. */
    void copy(Tensor source, Tensor target);

    /**
     * Copies a tensor to another of the same shape, each a float tensor or a product tensor. To a narrower type each element
     * is rounded to the nearest, ties to even; a number that is too large becomes infinite, and NaN stays NaN.
     */
    void cast(Tensor source, Tensor target);

    /**
     * {@code sum = left + right}, all float tensors or all product tensors; {@code sum} may be either operand.
     */
    void add(Tensor left, Tensor right, Tensor sum);

    /** {@code tensor *= factor} of a float tensor. */
    void scale(Tensor tensor, double factor);

    /**
     * Sets {@code sums[index]} to the sum of all elements of a float tensor, in float64, in a fixed order. Sums stay with
     * the engine, so that the host reads many of them at once.
     *
     * @param sums FLOAT64, of one dimension
     */
    void sum(Tensor tensor, Tensor sums, int index);

    /**
     * Sets {@code sums[index]} to the sum of the squares of all elements of a float tensor, in a fixed order; accurate to
     * float64 or the best the engine can do. Operands as of {@link #sum}.
     */
    void squaredSum(Tensor tensor, Tensor sums, int index);

    /**
     * Sets row {@code index} of {@code digests} to the digest of the bits of a tensor of any type,
     * {@link dev.troupe.engine.digest.BitHash#digest}: the lower 32 bits, then the upper ones.
     *
     * @param digests INT32 [M x 2], no part of the tensor
     */
    void digest(Tensor tensor, Tensor digests, int index);

    /**
     * {@code y = gelu(preActivation)}, both [N x M], with the bytes of {@link MatrixKernels#linearGelu}. {@code y} may be
     * {@code preActivation}.
     */
    void gelu(Tensor preActivation, Tensor y);

    /** {@code dx = dy gelu'(preActivation)}, all of one shape; {@code dx} may be {@code dy}. */
    void geluBackward(Tensor preActivation, Tensor dy, Tensor dx);

    /** {@code y = silu(gate) up} with {@code silu(x) = x / (1 + e^-x)} (Shazeer 2020), all [N x M]. */
    void swiGlu(Tensor gate, Tensor up, Tensor y);

    /** The gradients for gate and up of {@link #swiGlu}, all of one shape; dGate may be gate, and dUp may be up or dy. */
    void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp);

    /**
     * {@code y = x factor}, both [N x M], with the factors of the dropout; {@code y} may be {@code x}. The backward is the
     * same kernel on the gradient.
     */
    void dropout(Tensor x, Dropout dropout, Tensor y);
}
