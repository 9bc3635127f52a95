package dev.troupe.protocol;

/**
 * The result of a training step.
 *
 * @param step the step, from 0
 * @param loss mean over the global batch, with the weights before the update
 * @param experts the measures of the experts over the microbatches
 * @param gradientNorm global norm of the gradients before clipping; not finite if they overflowed
 * @param lossScale the factor of the loss before the backward
 * @param skipped whether the gradients overflowed, so that the weights did not change
 * @param traffic the bytes that all ranks sent in the step
 */
public record StepResult(long step, double loss, ExpertMeasures experts, double gradientNorm, double learningRate,
        double lossScale, boolean skipped, Traffic traffic) {
    /** Creates the result of a model without experts. */
    public StepResult(long step, double loss, double gradientNorm, double learningRate, double lossScale,
            boolean skipped, Traffic traffic) {
        this(step, loss, ExpertMeasures.NONE, gradientNorm, learningRate, lossScale, skipped, traffic);
    }

    public StepResult withTraffic(Traffic sent) {
        return new StepResult(step, loss, experts, gradientNorm, learningRate, lossScale, skipped, sent);
    }
}
