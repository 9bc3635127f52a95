package dev.troupe.protocol;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The measures of the experts in a microbatch, or of all microbatches of a step. All losses are without their coefficients.
 *
 * @param auxiliaryLoss NaN if it is not defined
 * @param routerZLoss the z-loss of routers, summed over layers; NaN if it has no coefficient
 * @param entropy mean over layers of the entropy of the loads, over the logarithm of the number of experts: 1 for even loads
 * @param highestLoad the highest load of an expert in any layer and microbatch, over the load of even ones
 * @param idle mean over layers and microbatches of the share of experts without a token
 * @param dropped the share of choices that were dropped for lack of capacity
 */
public record ExpertMeasures(double auxiliaryLoss, double routerZLoss, double entropy, double highestLoad,
        double idle, double dropped) {
    /** The measures of a model without experts. */
    public static final ExpertMeasures NONE = new ExpertMeasures(Double.NaN, Double.NaN, Double.NaN, Double.NaN,
            Double.NaN, Double.NaN);

    /** Returns the measures of several microbatches, or of reports of as many each, added in their order. */
    public static ExpertMeasures of(List<ExpertMeasures> microbatches) {
        return new ExpertMeasures(mean(microbatches, ExpertMeasures::auxiliaryLoss),
                mean(microbatches, ExpertMeasures::routerZLoss), mean(microbatches, ExpertMeasures::entropy),
                microbatches.stream().mapToDouble(ExpertMeasures::highestLoad).max().orElse(Double.NaN),
                mean(microbatches, ExpertMeasures::idle), mean(microbatches, ExpertMeasures::dropped));
    }

    private static double mean(List<ExpertMeasures> microbatches, ToDoubleFunction<ExpertMeasures> number) {
        double sum = 0;
        for (ExpertMeasures one : microbatches) {
            sum += number.applyAsDouble(one);
        }
        return sum / microbatches.size();
    }
}
