package dev.troupe.machine;

/**
 * What every rank's optimizer does at the end of a step.
 *
 * @param step
 *            the step, from 0
 * @param learningRate
 *            the rate of this step
 * @param gradientScale
 *            what gradients are multiplied by, for clipping; 1 for none
 */
public record WeightUpdate(long step, double learningRate, double gradientScale) {
    /** How many updates the weights will have seen after this one. */
    public long updateNumber() {
        return step + 1;
    }
}
