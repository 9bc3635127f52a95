package dev.troupe.engine;

/**
 * Norms of rows. The contract of every kernel is {@link Engine}'s. Letters: N rows, C hidden size; G norms in a row of the
 * root mean square's kernels, each of C neighbours: 1 for a residual stream, a number of heads where each is normalized.
 */
public interface NormKernels {
    /**
     * Layer norm of each row (Ba et al. 2016): x and y [N x C], gamma and beta [C]; writes each row's mean and
     * reciprocal standard deviation, [N] each, for the backward.
     *
     * @param residual [N x C], which is first added to x as {@link ElementwiseKernels#add} does it, so that what joins
     *     a residual stream is normalized while it is at hand; null where x is read alone
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
     * Both backwards of {@link #layerNorm} at once, which read dy and x together: to the bit what
     * {@link #layerNormBackwardWeight} and {@link #layerNormBackwardInput} leave. Operands as of these.
     */
    default void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate, Tensor dGamma, Tensor dBeta) {
        layerNormBackwardWeight(dy, x, mean, reciprocalDeviation, dGamma, dBeta); // first, as dx may be dy
        layerNormBackwardInput(dy, x, gamma, mean, reciprocalDeviation, dx, accumulate);
    }

    /**
     * {@code y = gamma x / sqrt(mean(x x) + epsilon)} of every C neighbours (Zhang and Sennrich 2019): x and y [N x G C],
     * gamma [C]; writes what each was multiplied by, [N G], for the backward.
     *
     * @param residual as for {@link #layerNorm}; null where x is read alone
     */
    void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot);

    /** The gradient for x of {@link #rmsNorm}; with {@code accumulate} it is added to dx, which then may not be dy. */
    void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx, boolean accumulate);

    /** Adds the gradient for gamma of {@link #rmsNorm}. */
    void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma);

    /**
     * Both backwards of {@link #rmsNorm} at once, as {@link #layerNormBackward}: to the bit what
     * {@link #rmsNormBackwardWeight} and {@link #rmsNormBackwardInput} leave. Operands as of these.
     */
    default void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate, Tensor dGamma) {
        rmsNormBackwardWeight(dy, x, reciprocalRoot, dGamma); // first, as dx may be dy
        rmsNormBackwardInput(dy, x, gamma, reciprocalRoot, dx, accumulate);
    }
}
