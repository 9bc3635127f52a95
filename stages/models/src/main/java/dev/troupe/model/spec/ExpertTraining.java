package dev.troupe.model.spec;

/**
 * The options of the training of experts. Losses are added to the cross-entropy of each microbatch.
 *
 * @param auxiliaryLoss coefficient of the auxiliary loss, which evens out the loads of the experts; 0 for none
 * @param routerZLoss coefficient of the z-loss, which keeps the logits of routers small (Zoph et al. 2022, ST-MoE); 0 for
 *     none
 * @param biasUpdateRate change of the bias of the choice in each step, by the sign of an expert's load (Wang et al. 2024); 0
 *     for none
 * @param capacityFactor room of an expert in a microbatch over its share of all choices (Lepikhin et al. 2020, GShard); 0 if
 *     no choice is dropped
 * @param drawsSecond whether a second expert is kept with a probability of 2 times its weight
 */
public record ExpertTraining(double auxiliaryLoss, double routerZLoss, double biasUpdateRate, double capacityFactor,
        boolean drawsSecond) {
    /** Nothing is added, moved or dropped. */
    public static final ExpertTraining PLAIN = new ExpertTraining(0, 0, 0, 0, false);

    public ExpertTraining {
        require("coefficient of the auxiliary loss (model.auxiliary-loss)", auxiliaryLoss);
        require("coefficient of the z-loss of routers (model.router-z-loss)", routerZLoss);
        require("rate of the bias of the choice (model.bias-update-rate)", biasUpdateRate);
        require("capacity factor of experts (model.capacity-factor)", capacityFactor);
    }

    private static void require(String what, double number) {
        if (!(number >= 0 && number < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("the " + what + " must be 0 or more, but found " + number);
        }
    }

    /** Returns whether the forward of training places choices in buffers, or drops some. */
    public boolean placesChoices() {
        return capacityFactor > 0 || drawsSecond;
    }

    /** Returns the rows of an expert's buffer for so many choices in all; all of them if there is no capacity. */
    public int capacity(int choices, int experts) {
        return capacityFactor == 0
                ? choices
                : (int) Math.min(choices, Math.ceil(choices * capacityFactor / experts));
    }
}
