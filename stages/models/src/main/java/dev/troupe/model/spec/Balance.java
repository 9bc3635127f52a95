package dev.troupe.model.spec;

/**
 * The balance of the experts of a model, measured by the auxiliary loss (Fedus et al. 2022, section 2.2) over all layers
 * joined, as in transformers: E times the sum over experts of f P. Here f is the mean number of an expert's choices, and P
 * its mean score, both over the rows of a microbatch in all layers. Even loads give k, the experts of a row. The choices
 * have no gradient.
 *
 * @param experts E
 * @param layers the layers with experts; at least 1
 * @param scoresAddUpToOne whether the scores of a row do; if not, the auxiliary loss is not defined
 * @param coefficient the factor of the auxiliary loss in the loss that is minimized; 0: it is only measured
 */
public record Balance(int experts, int layers, boolean scoresAddUpToOne, double coefficient) {
    /** Returns the further rows in which loads travel with an activation: a byte of each number is an element. */
    public int boundaryRows(int hidden) {
        return Math.ceilDiv(2 * experts * Double.BYTES, hidden);
    }

    /**
     * Returns the auxiliary loss, without its coefficient; NaN if it is not defined.
     *
     * @param loads the choices of each expert, then the sum of its scores, over all layers
     * @param rows N
     */
    public double loss(double[] loads, int rows) {
        if (!scoresAddUpToOne) {
            return Double.NaN;
        }
        double sum = 0;
        for (int expert = 0; expert < experts; expert++) {
            sum += loads[expert] * loads[experts + expert];
        }
        return sum * perScore(rows);
    }

    /**
     * Returns the gradient of {@code coefficient x loss} for the score of each expert, in any row and layer, times a factor.
     */
    public double[] gradient(double[] loads, int rows, double factor) {
        double[] gradient = new double[experts];
        for (int expert = 0; expert < experts; expert++) {
            gradient[expert] = coefficient * loads[expert] * perScore(rows) * factor;
        }
        return gradient;
    }

    private double perScore(int rows) {
        double places = (double) rows * layers;
        return experts / (places * places);
    }
}
