package dev.troupe.engine;

/** Updates of weights by their gradients, all of them float tensors. The contract of every kernel is {@link Engine}'s. */
public interface OptimizerKernels {
    /** One AdamW update of weights and both moments, all of one shape; the gradients become zero. */
    void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update);

    /**
     * {@code weights -= learningRate (gradientScale gradients + weightDecay weights)}, as {@code torch.optim.SGD}; the
     * gradients become zero.
     */
    void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale);
}
