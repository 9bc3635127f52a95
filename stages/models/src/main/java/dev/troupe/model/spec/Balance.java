package dev.troupe.model.spec;

/**
 * The losses of a model's routers, and the measures of the loads of its experts. The auxiliary loss (Fedus et al. 2022,
 * section 2.2) is over all layers joined, as in transformers: E times the sum over experts of f P. Here f is the mean number
 * of an expert's choices, and P its mean score, both over the rows of a microbatch in all layers. Even loads give k, the
 * experts of a row. The choices have no gradient. The z-loss (Zoph et al. 2022) is the sum over layers of the mean over rows
 * of the squared logarithm of the sum of exponentials of the logits.
 *
 * <p>The sums of a microbatch are numbers in an array of {@link #sumCount}: the choices of each expert, the sums of its
 * scores, then five more. Layers add to them one after another.
 *
 * @param experts E
 * @param layers the layers with experts; at least 1
 * @param scoresAddUpToOne whether the scores of a row do; if not, the auxiliary loss is not defined
 * @param training the coefficients of the losses; 0: a loss is only measured
 */
public record Balance(int experts, int layers, boolean scoresAddUpToOne, ExpertTraining training) {
    private static final int Z_LOSS = 0;
    private static final int ENTROPY = 1;
    private static final int HIGHEST = 2;
    private static final int IDLE = 3;
    private static final int DROPPED = 4;
    private static final int OTHERS = 5;

    /**
     * The measures of a microbatch, all without coefficients.
     *
     * @param auxiliaryLoss NaN if it is not defined
     * @param routerZLoss NaN if it has no coefficient
     * @param entropy mean over layers of the entropy of the loads, over the logarithm of E: 1 for even loads
     * @param highestLoad the highest load of an expert in any layer, over the load of even ones
     * @param idle mean over layers of the share of experts without a choice
     * @param dropped share of choices that were dropped
     */
    public record Measure(double auxiliaryLoss, double routerZLoss, double entropy, double highestLoad, double idle,
            double dropped) {
    }

    /** Returns the further rows in which loads travel with an activation: a byte of each number is an element. */
    public int boundaryRows(int hidden) {
        return Math.ceilDiv(sumCount() * Double.BYTES, hidden);
    }

    /** Returns the count of the numbers that a microbatch adds up. */
    public int sumCount() {
        return 2 * experts + OTHERS;
    }

    /**
     * Adds a layer to the sums of a microbatch.
     *
     * @param ofLayer the choices of each expert, the sums of its scores, the z-loss, and the dropped choices
     */
    public void add(double[] ofLayer, double[] sums) {
        double choices = 0;
        double highest = 0;
        for (int expert = 0; expert < experts; expert++) {
            choices += ofLayer[expert];
            highest = Math.max(highest, ofLayer[expert]);
            sums[expert] += ofLayer[expert];
            sums[experts + expert] += ofLayer[experts + expert];
        }
        double entropy = 0;
        for (int expert = 0; expert < experts; expert++) {
            double share = ofLayer[expert] / choices;
            entropy -= share == 0 ? 0 : share * StrictMath.log(share);
            sums[2 * experts + IDLE] += share == 0 ? 1 : 0;
        }
        sums[2 * experts + Z_LOSS] += ofLayer[2 * experts];
        sums[2 * experts + ENTROPY] += experts == 1 ? 1 : entropy / StrictMath.log(experts);
        sums[2 * experts + HIGHEST] = Math.max(sums[2 * experts + HIGHEST], highest * experts / choices);
        sums[2 * experts + DROPPED] += ofLayer[2 * experts + 1];
    }

    /**
     * Returns the measures of a microbatch.
     *
     * @param rows N
     */
    public Measure measure(double[] sums, int rows) {
        double choices = 0;
        for (int expert = 0; expert < experts; expert++) {
            choices += sums[expert];
        }
        return new Measure(loss(sums, rows),
                training.routerZLoss() == 0 ? Double.NaN : sums[2 * experts + Z_LOSS] / rows,
                sums[2 * experts + ENTROPY] / layers, sums[2 * experts + HIGHEST],
                sums[2 * experts + IDLE] / ((double) layers * experts), sums[2 * experts + DROPPED] / choices);
    }

    private double loss(double[] sums, int rows) {
        if (!scoresAddUpToOne) {
            return Double.NaN;
        }
        double sum = 0;
        for (int expert = 0; expert < experts; expert++) {
            sum += sums[expert] * sums[experts + expert];
        }
        return sum * perScore(rows);
    }

    /**
     * Returns the gradient of both losses with their coefficients, times a factor: for the score of each expert in any row
     * and layer, then for the z-loss of a layer.
     */
    public double[] gradient(double[] sums, int rows, double factor) {
        double[] gradient = new double[experts + 1];
        for (int expert = 0; expert < experts; expert++) {
            gradient[expert] = training.auxiliaryLoss() * sums[expert] * perScore(rows) * factor;
        }
        gradient[experts] = training.routerZLoss() / rows * factor;
        return gradient;
    }

    private double perScore(int rows) {
        double places = (double) rows * layers;
        return experts / (places * places);
    }
}
