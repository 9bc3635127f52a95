package dev.troupe.protocol.run;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import java.util.Optional;

/**
 * The decision on a step from the ranks' measurements: the update of the weights, or the reason why training cannot
 * continue.
 */
record StepDecision(StepResult result, WeightUpdate update, LossScale lossScale, Optional<String> failure) {
    /**
     * Decides a step.
     *
     * @param factor the factor of the step's loss
     */
    static StepDecision of(long step, PassMeasures measured, double factor, LossScale lossScale, RunSettings settings) {
        double loss = measured.meanLoss();
        // A stage with replicas updates its weights only after a round of steps, so its norm may be absent.
        double norm = (settings.stagesUpdateAlone()
                ? GlobalNorm.ofSome(measured.squaredSums())
                : GlobalNorm.of(measured.squaredSums())) / factor;
        boolean overflowed = !Double.isFinite(norm);
        LossScale next = overflowed ? lossScale.afterSkip(factor) : lossScale.afterUpdate();
        double learningRate = settings.learningRate().applyAsDouble(step);
        double scale = overflowed ? 0 : GlobalNorm.clipCoefficient(norm, settings.gradientClip()) / factor;
        return new StepDecision(
                new StepResult(step, loss, measured.experts(), norm, learningRate, factor, overflowed,
                        Traffic.NONE),
                new WeightUpdate(step, learningRate, scale, next.updates(), overflowed, next.factor()), next,
                failure(step, loss, norm, factor, overflowed && !lossScale.maySkip(), next));
    }

    private static Optional<String> failure(long step, double loss, double norm, double factor, boolean mustNotSkip,
            LossScale next) {
        if (!Double.isFinite(loss) || mustNotSkip) {
            return Optional.of("step " + step + " has a loss of " + loss + " and a gradient norm of " + norm
                    + ", so training cannot continue: lower training.learning-rate.peak, or set training.gradient-clip");
        }
        return next.hasSkippedTooOften()
                ? Optional.of("the gradients of " + next.skipsInRow() + " steps in a row overflowed, of the last, step "
                        + step + ", with a loss scale of " + factor + ", so training cannot continue: set"
                        + " training.loss-scale to dynamic or a smaller number, or lower training.learning-rate.peak")
                : Optional.empty();
    }
}
