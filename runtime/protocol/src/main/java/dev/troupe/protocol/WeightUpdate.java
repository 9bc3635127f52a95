package dev.troupe.protocol;

/**
 * What every rank's optimizer does at the end of a step.
 *
 * @param step the step, from 0
 * @param learningRate the rate of this step
 * @param gradientScale what gradients are multiplied by, for clipping and to undo the scale of the loss; 1 for neither
 * @param updateNumber how many updates the weights will have seen after this one, from 1
 * @param skipped whether the gradients overflowed, so that they are dropped and the weights stay
 * @param nextLossScale what the loss is multiplied by before the backward of microbatches that read the weights after
 *     this update
 */
public record WeightUpdate(long step, double learningRate, double gradientScale, long updateNumber, boolean skipped,
        double nextLossScale) {
    /** An update behind which the loss stays as it is. */
    public WeightUpdate(long step, double learningRate, double gradientScale, long updateNumber, boolean skipped) {
        this(step, learningRate, gradientScale, updateNumber, skipped, 1);
    }
}
