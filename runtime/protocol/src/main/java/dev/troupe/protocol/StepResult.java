package dev.troupe.protocol;

/**
 * What a training step came to.
 *
 * @param step the step, from 0
 * @param loss mean over the global batch, with the weights before the update
 * @param gradientNorm global norm of the gradients before clipping; not finite if they overflowed
 * @param learningRate the rate of the update
 * @param lossScale what the loss was multiplied by before the backward
 * @param skipped whether the gradients overflowed, so that the weights stayed
 * @param traffic what all ranks sent in the step
 */
public record StepResult(long step, double loss, double gradientNorm, double learningRate, double lossScale,
        boolean skipped, Traffic traffic) {
    public StepResult withTraffic(Traffic sent) {
        return new StepResult(step, loss, gradientNorm, learningRate, lossScale, skipped, sent);
    }
}
