package dev.troupe.engine.router;

import java.util.Arrays;

/** The choice of the highest numbers of a row, and weights that are divided by their sum. */
final class Choice {
    private Choice() {
    }

    /**
     * Writes the indices of the highest numbers, the highest first, and of equal ones the lower index first. Numbers that
     * are not comparable are chosen last, so that a row always has k experts.
     *
     * @param numbers at least one for each choice
     */
    static void highest(double[] numbers, int[] chosen) {
        for (int choice = 0; choice < chosen.length; choice++) {
            int best = -1;
            for (int index = 0; index < numbers.length; index++) {
                if ((best < 0 || numbers[index] > numbers[best] || Double.isNaN(numbers[best]))
                        && !contains(chosen, choice, index)) {
                    best = index;
                }
            }
            chosen[choice] = best;
        }
    }

    private static boolean contains(int[] chosen, int count, int index) {
        for (int i = 0; i < count; i++) {
            if (chosen[i] == index) {
                return true;
            }
        }
        return false;
    }

    /** Writes the scores of the chosen experts, divided by their sum if asked, times a factor. */
    static void weights(double[] scores, int[] chosen, boolean normalized, double smallest, double factor,
            double[] weights) {
        double divisor = normalized ? sum(scores, chosen) + smallest : 1;
        for (int choice = 0; choice < chosen.length; choice++) {
            weights[choice] = scores[chosen[choice]] / divisor * factor;
        }
    }

    private static double sum(double[] scores, int[] chosen) {
        double sum = 0;
        for (int expert : chosen) {
            sum += scores[expert];
        }
        return sum;
    }

    /** Writes the gradient of {@link #weights} for the scores, and adds a further one if it is not null. */
    static void backward(double[] scores, int[] chosen, boolean normalized, double smallest, double factor,
            double[] dWeights, double[] further, double[] dScores) {
        if (further == null) {
            Arrays.fill(dScores, 0);
        } else {
            System.arraycopy(further, 0, dScores, 0, dScores.length);
        }
        double divisor = normalized ? sum(scores, chosen) + smallest : 1;
        double mean = 0;
        for (int choice = 0; normalized && choice < chosen.length; choice++) {
            mean += dWeights[choice] * (scores[chosen[choice]] / divisor);
        }
        for (int choice = 0; choice < chosen.length; choice++) {
            dScores[chosen[choice]] += factor * (dWeights[choice] - mean) / divisor;
        }
    }
}
