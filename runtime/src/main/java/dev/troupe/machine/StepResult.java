package dev.troupe.machine;

/**
 * What a training step came to.
 *
 * @param step
 *            the step, from 0
 * @param loss
 *            mean over the global batch, with the weights before the update
 * @param gradientNorm
 *            global norm of the gradients before clipping
 * @param learningRate
 *            the rate of the update
 */
public record StepResult(long step, double loss, double gradientNorm, double learningRate) {
}
