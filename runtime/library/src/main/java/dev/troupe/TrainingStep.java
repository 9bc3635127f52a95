package dev.troupe;

/**
 * A step that is committed.
 *
 * @param step the step, from 0
 * @param steps steps of the whole run
 * @param loss mean over the counted tokens of the global batch, with the weights before the update
 * @param gradientNorm norm of all gradients before clipping; not finite if they overflowed
 * @param learningRate rate of the update
 * @param seconds wall time of the step
 * @param tokensPerSecond tokens of the global batch over that time
 * @param skipped whether the gradients overflowed, so that the weights remain as they were
 */
public record TrainingStep(long step, long steps, double loss, double gradientNorm, double learningRate, double seconds,
        double tokensPerSecond, boolean skipped) {
}
