package dev.troupe.engine.router;

import java.util.Optional;

/**
 * The rule by which a row chooses experts. An engine calls it for one row after another, with numbers of float64 whatever
 * the type of its tensors, so all engines choose alike. Letters: E experts, k choices of a row.
 *
 * <p>Thread rule: immutable; any thread may call it.
 */
public interface Router {
    /** Whether a bias is added for the choice. */
    boolean choosesByBias();

    /** Whether the scores of a row add up to 1, as an auxiliary loss needs them. */
    boolean scoresAddUpToOne();

    /** Returns why it cannot choose k of E experts, in a sentence for the user; empty if it can. */
    Optional<String> refusal(int experts, int perToken);

    /**
     * Chooses the experts of a row.
     *
     * @param logits [E]
     * @param bias [E], added for the choice alone by kinds that have one; null for none
     * @param scores [E], written: the scores without the bias
     * @param chosen [k], written: different experts, the preferred first, and of equal ones the lower index first
     * @param weights [k], written: the weights of the chosen experts
     */
    void forward(double[] logits, double[] bias, double[] scores, int[] chosen, double[] weights);

    /**
     * Computes the gradient for the logits of a row; the choice has none. It is linear in both gradients.
     *
     * @param scores [E], rounded to the type of their tensor
     * @param dWeights [k]
     * @param dScores [E]: a further gradient for the scores; null for none
     * @param dLogits [E], written
     */
    void backward(double[] scores, int[] chosen, double[] dWeights, double[] dScores, double[] dLogits);
}
