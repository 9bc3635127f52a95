package dev.troupe.protocol;

/**
 * The update of every rank's optimizer at the end of a step.
 *
 * @param step the step, from 0
 * @param gradientScale the factor of gradients, which clips them and undoes the loss scale; 1 if neither applies
 * @param updateNumber the number of updates including this one, from 1
 * @param skipped whether the gradients overflowed and are dropped, so that the weights do not change
 * @param nextLossScale the factor of the loss for microbatches that read the weights after this update
 */
public record WeightUpdate(long step, double learningRate, double gradientScale, long updateNumber, boolean skipped,
        double nextLossScale) {
    /** Creates an update after which the loss scale is 1. */
    public WeightUpdate(long step, double learningRate, double gradientScale, long updateNumber, boolean skipped) {
        this(step, learningRate, gradientScale, updateNumber, skipped, 1);
    }
}
