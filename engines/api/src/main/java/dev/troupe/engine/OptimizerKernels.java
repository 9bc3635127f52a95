package dev.troupe.engine;

/**
 * Updates of weights by their gradients, all of them float tensors. The contract of every kernel is {@link Engine}'s.
 *
 * <p>Where products read weights of another type, an update writes these too while the new weights are at hand: its
 * {@code operands}, a product tensor of the weights' shape, become what {@link ElementwiseKernels#cast} makes of them. They
 * are null where products read the weights themselves, or where the weights change again before any product.
 */
public interface OptimizerKernels {
    /**
     * What one update with momentum needs beside its tensors (Sutskever et al. 2013, as {@code torch.optim.SGD} computes it,
     * without dampening).
     *
     * @param learningRate the rate of this step
     * @param momentum what the momentum keeps of itself
     * @param nesterov whether the update looks one step of the momentum ahead
     * @param weightDecay decay, added to the gradient; 0 for tensors that do not decay
     * @param gradientScale what every gradient is multiplied by first (clipping)
     */
    record Momentum(double learningRate, double momentum, boolean nesterov, double weightDecay,
            double gradientScale) {
    }

    /** One AdamW update of weights and both moments, all of one shape; the gradients become zero. */
    void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands);

    /** The same without operands. */
    default void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update) {
        adamW(weights, gradients, firstMoment, secondMoment, update, null);
    }

    /**
     * {@code weights -= learningRate (gradientScale gradients + weightDecay weights)}, as {@code torch.optim.SGD}; the
     * gradients become zero.
     */
    void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale,
            Tensor operands);

    /** The same without operands. */
    default void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale) {
        sgd(weights, gradients, learningRate, weightDecay, gradientScale, null);
    }

    /**
     * With {@code g = gradientScale gradients + weightDecay weights}: {@code velocity = momentum velocity + g}, and
     * {@code weights -= learningRate velocity}, or with Nesterov's {@code weights -= learningRate (g + momentum velocity)};
     * the gradients become zero. All tensors are of one shape.
     */
    void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands);

    /** The same without operands. */
    default void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update) {
        sgdMomentum(weights, gradients, velocity, update, null);
    }
}
