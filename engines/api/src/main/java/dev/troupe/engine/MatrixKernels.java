package dev.troupe.engine;

/**
 * Matrix products, linear layers, and the gradient of a bias. The contract of every kernel is {@link Engine}'s. Letters: N
 * rows, K and M any size.
 */
public interface MatrixKernels {
    /**
     * {@code product (+)= op(left) op(right)} for two-dimensional product tensors.
     *
     * @param left [M x K], or [K x M] when transposed
     * @param right [K x N], or [N x K] when transposed
     * @param product [M x N]: a product tensor, or a float tensor, which is not rounded
     * @param accumulate whether to add to {@code product}, which must then be a float tensor, instead of overwriting it
     */
    void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate);

    /**
     * {@code y = x op(weight) + bias}: x [N x K], bias [M], y [N x M].
     *
     * @param weight [K x M], or [M x K] when transposed
     */
    void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y);

    /**
     * {@code preActivation = x weight + bias; y = gelu(preActivation)} with the tanh form of GELU (Hendrycks and Gimpel
     * 2016): x [N x K], weight [K x M], bias [M], the others [N x M].
     */
    void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y);

    /** Adds the column sums of dy [N x M] to dBias [M]. */
    void biasBackward(Tensor dy, Tensor dBias);
}
