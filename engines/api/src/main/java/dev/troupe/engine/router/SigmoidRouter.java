package dev.troupe.engine.router;

import java.util.Arrays;
import java.util.Optional;

/**
 * The sigmoid of each logit, with a choice by score and bias (DeepSeek-AI 2024, DeepSeek-V3, section 2.1.2). Experts are in
 * groups of consecutive ones: those groups stay in which the two highest numbers add up to most, and experts of other groups
 * are never chosen. Weights have no bias.
 *
 * @param normalized whether the weights of a row are divided by their sum
 * @param groups number of groups, which divides the experts; 1 for no groups
 * @param keptGroups groups that stay; together they must have at least k experts
 * @param factor of all weights
 */
public record SigmoidRouter(boolean normalized, int groups, int keptGroups, double factor) implements Router {
    /** Added to a sum, so that scores that are all 0 give weights of 0. */
    private static final double SMALLEST = 1e-20;
    private static final int HIGHEST_OF_GROUP = 2;

    @Override
    public boolean choosesByBias() {
        return true;
    }

    @Override
    public boolean scoresAddUpToOne() {
        return false;
    }

    @Override
    public Optional<String> refusal(int experts, int perToken) {
        if (groups < 1 || experts % groups != 0) {
            return Optional.of("the " + experts + " experts (model.experts) are not divisible by " + groups
                    + " groups (model.expert-groups): change one of them");
        }
        if (keptGroups < 1 || keptGroups > groups || (long) experts / groups * keptGroups < perToken) {
            return Optional.of("a token has " + perToken + " experts (model.experts-per-token) of " + keptGroups
                    + " groups (model.expert-groups-per-token), but there are " + groups + " groups of "
                    + experts / groups + " experts: change one of them");
        }
        return Double.isFinite(factor) && factor > 0
                ? Optional.empty()
                : Optional.of("the factor of the weights of experts (model.routed-scaling-factor) must be above 0, but"
                        + " found " + factor);
    }

    @Override
    public void forward(double[] logits, double[] bias, double[] scores, int[] chosen, double[] weights) {
        double[] preference = new double[logits.length];
        for (int expert = 0; expert < logits.length; expert++) {
            scores[expert] = 1 / (1 + StrictMath.exp(-logits[expert]));
            preference[expert] = scores[expert] + (bias == null ? 0 : bias[expert]);
        }
        if (keptGroups < groups) {
            excludeGroups(preference);
        }
        Choice.highest(preference, chosen);
        Choice.weights(scores, chosen, normalized, SMALLEST, factor, weights);
    }

    /** Not 0 for an excluded expert: it would win over one with a negative bias. */
    private void excludeGroups(double[] preference) {
        int size = preference.length / groups;
        double[] own = new double[size];
        double[] sums = new double[groups];
        int[] highest = new int[Math.min(HIGHEST_OF_GROUP, size)];
        for (int group = 0; group < groups; group++) {
            System.arraycopy(preference, group * size, own, 0, size);
            Choice.highest(own, highest);
            for (int index : highest) {
                sums[group] += own[index];
            }
        }
        int[] kept = new int[keptGroups];
        Choice.highest(sums, kept);
        Arrays.sort(kept);
        for (int group = 0; group < groups; group++) {
            if (Arrays.binarySearch(kept, group) < 0) {
                Arrays.fill(preference, group * size, (group + 1) * size, Double.NEGATIVE_INFINITY);
            }
        }
    }

    @Override
    public void backward(double[] scores, int[] chosen, double[] dWeights, double[] dScores, double[] dLogits) {
        Choice.backward(scores, chosen, normalized, SMALLEST, factor, dWeights, dScores, dLogits);
        for (int expert = 0; expert < scores.length; expert++) {
            dLogits[expert] *= scores[expert] * (1 - scores[expert]);
        }
    }
}
