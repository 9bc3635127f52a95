package dev.troupe.engine;

/**
 * Updates of weights by their gradients, all of them float tensors. The contract of every kernel is {@link Engine}'s.
 *
 * <p>If products read weights of another type, an update also writes {@code operands}: a product tensor of the weights'
 * shape, equal to their {@link ElementwiseKernels#cast}. It is null if products read the weights themselves, or if the
 * weights change again before any product.
 */
public interface OptimizerKernels {
    /**
     * The numbers of one update with momentum (Sutskever et al. 2013, as {@code torch.optim.SGD} computes it, without
     * dampening).
     *
     * @param momentum the factor by which the velocity decays
     * @param nesterov whether to use Nesterov momentum
     * @param weightDecay decay, added to the gradient; 0 for tensors that do not decay
     * @param gradientScale a factor of every gradient (clipping)
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
