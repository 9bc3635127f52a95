package dev.troupe.protocol.run;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import java.util.List;
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
        List<Double> norms = measured.squaredSumsByReplica().stream().map(
                sums -> norm(sums, settings) / factor).toList();
        double norm = largest(norms);
        boolean overflowed = !Double.isFinite(norm);
        LossScale next = overflowed ? lossScale.afterSkip(factor) : lossScale.afterUpdate();
        double learningRate = settings.learningRate().applyAsDouble(step);
        List<Double> scales = norms.stream().map(
                each -> overflowed ? 0 : GlobalNorm.clipCoefficient(each, settings.gradientClip()) / factor).toList();
        return new StepDecision(
                new StepResult(step, loss, measured.experts(), norm, learningRate, factor, overflowed,
                        Traffic.NONE),
                new WeightUpdate(step, learningRate, scales.getFirst(), next.updates(), overflowed, next.factor(),
                        scales.size() == 1 ? List.of() : scales),
                next, failure(step, loss, norm, factor, overflowed && !lossScale.maySkip(), next));
    }

    /** A stage on several ranks updates its weights only after a round of steps, so its norm may be absent. */
    private static double norm(List<LayerSquaredSum> sums, RunSettings settings) {
        return settings.stagesUpdateAlone() ? GlobalNorm.ofSome(sums) : GlobalNorm.of(sums);
    }

    /** Returns the largest; NaN if one is NaN. */
    private static double largest(List<Double> norms) {
        return norms.stream().reduce(Math::max).orElseThrow();
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
