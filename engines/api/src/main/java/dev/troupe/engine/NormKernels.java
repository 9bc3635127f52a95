package dev.troupe.engine;

/** Norms of rows. The contract of every kernel is {@link Engine}'s. Letters: N rows, C hidden size. */
public interface NormKernels {
    /**
     * Layer norm of each row (Ba et al. 2016): x and y [N x C], gamma and beta [C]; writes each row's mean and
     * reciprocal standard deviation, [N] each, for the backward.
     *
     * @param residual
     *            [N x C], which is first added to x as {@link ElementwiseKernels#add} does it, so that what joins a
     *            residual stream is normalized while it is at hand; null where x is read alone
     */
    void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation);

    /** The gradient for x of {@link #layerNorm}; with {@code accumulate} it is added to dx, which then may not be dy. */
    void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation, Tensor dx,
            boolean accumulate);

    /** Adds the gradients for gamma and beta of {@link #layerNorm}. */
    void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta);
}
