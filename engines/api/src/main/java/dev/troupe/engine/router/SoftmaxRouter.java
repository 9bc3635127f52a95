package dev.troupe.engine.router;

import java.util.Optional;

/**
 * The softmax over all experts, of which the highest are chosen (Shazeer et al. 2017). With weights that are divided by
 * their sum it is the softmax over the chosen logits.
 *
 * @param normalized whether the weights of a row are divided by their sum
 */
public record SoftmaxRouter(boolean normalized) implements Router {
    @Override
    public boolean choosesByBias() {
        return false;
    }

    @Override
    public boolean scoresAddUpToOne() {
        return true;
    }

    @Override
    public Optional<String> refusal(int experts, int perToken) {
        return Optional.empty();
    }

    @Override
    public void forward(double[] logits, double[] bias, double[] scores, int[] chosen, double[] weights) {
        double highest = Double.NEGATIVE_INFINITY;
        for (double logit : logits) {
            highest = Math.max(highest, logit);
        }
        double sum = 0;
        for (int expert = 0; expert < logits.length; expert++) {
            scores[expert] = StrictMath.exp(logits[expert] - highest);
            sum += scores[expert];
        }
        for (int expert = 0; expert < logits.length; expert++) {
            scores[expert] /= sum;
        }
        Choice.highest(scores, chosen);
        Choice.weights(scores, chosen, normalized, 0, 1, weights);
    }

    @Override
    public void backward(double[] scores, int[] chosen, double[] dWeights, double[] dScores, double[] dLogits) {
        Choice.backward(scores, chosen, normalized, 0, 1, dWeights, dScores, dLogits);
        double weighted = 0;
        for (int expert = 0; expert < scores.length; expert++) {
            weighted += scores[expert] * dLogits[expert];
        }
        for (int expert = 0; expert < scores.length; expert++) {
            dLogits[expert] = scores[expert] * (dLogits[expert] - weighted);
        }
    }
}
