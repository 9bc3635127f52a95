package dev.troupe.engine;

/**
 * Norms of rows. The contract of every kernel is {@link Engine}'s. Letters: N rows, C hidden size; a row of rmsNorm has G
 * norms of C neighbours: G is 1 for a residual stream, and the number of heads if each head is normalized.
 */
public interface NormKernels {
    /**
     * Layer norm of each row (Ba et al. 2016): x and y [N x C], gamma and beta [C]; writes each row's mean and
     * reciprocal standard deviation, [N] each, for the backward.
     *
     * @param residual [N x C], first added to x as {@link ElementwiseKernels#add} does it; null to read x alone
     */
    void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation);

    /** The gradient for x of {@link #layerNorm}; if {@code accumulate}, added to dx, which then may not be dy. */
    void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation, Tensor dx,
            boolean accumulate);

    /** Adds the gradients for gamma and beta of {@link #layerNorm}. */
    void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta);

    /**
     * Both backwards of {@link #layerNorm} at once, with the bits of {@link #layerNormBackwardWeight}, then
     * {@link #layerNormBackwardInput}. Operands as of these.
     */
    void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation, Tensor dx,
            boolean accumulate, Tensor dGamma, Tensor dBeta);

    /**
     * {@code y = gamma x / sqrt(mean(x x) + epsilon)} of every C neighbours (Zhang and Sennrich 2019): x and y [N x G C],
     * gamma [C]; writes the reciprocal of each root, [N G], for the backward.
     *
     * @param residual as for {@link #layerNorm}
     */
    void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot);

    /** The gradient for x of {@link #rmsNorm}; if {@code accumulate}, added to dx, which then may not be dy. */
    void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx, boolean accumulate);

    /** Adds the gradient for gamma of {@link #rmsNorm}. */
    void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma);

    /**
     * Both backwards of {@link #rmsNorm} at once, with the bits of {@link #rmsNormBackwardWeight}, then
     * {@link #rmsNormBackwardInput}. Operands as of these.
     */
    void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx, boolean accumulate,
            Tensor dGamma);
}
