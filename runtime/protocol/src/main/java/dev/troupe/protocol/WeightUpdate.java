package dev.troupe.protocol;

import java.util.List;

/**
 * The update of every rank's optimizer at the end of a step.
 *
 * @param step the step, from 0
 * @param gradientScale the factor of gradients, which clips them and undoes the loss scale; 1 if neither applies
 * @param updateNumber the number of updates including this one, from 1
 * @param skipped whether the gradients overflowed and are dropped, so that the weights do not change
 * @param nextLossScale the factor of the loss for microbatches that read the weights after this update
 * @param scalesOfReplicas the factor of each replica's gradients, if replicas have norms of their own; otherwise empty
 */
public record WeightUpdate(long step, double learningRate, double gradientScale, long updateNumber, boolean skipped,
        double nextLossScale, List<Double> scalesOfReplicas) {
    public WeightUpdate {
        scalesOfReplicas = List.copyOf(scalesOfReplicas);
    }

    /** Creates an update with one factor for all gradients. */
    public WeightUpdate(long step, double learningRate, double gradientScale, long updateNumber, boolean skipped,
            double nextLossScale) {
        this(step, learningRate, gradientScale, updateNumber, skipped, nextLossScale, List.of());
    }

    /** Returns the factor of the gradients of a data-parallel rank. */
    public double gradientScale(int dataRank) {
        return scalesOfReplicas.isEmpty() ? gradientScale : scalesOfReplicas.get(dataRank);
    }

    /** Creates an update after which the loss scale is 1. */
    public WeightUpdate(long step, double learningRate, double gradientScale, long updateNumber, boolean skipped) {
        this(step, learningRate, gradientScale, updateNumber, skipped, 1);
    }
}
