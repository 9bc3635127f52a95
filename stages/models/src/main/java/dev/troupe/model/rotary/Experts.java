package dev.troupe.model.rotary;

import java.util.List;

/**
 * The experts of a model's blocks.
 *
 * @param count experts E of a layer
 * @param perToken experts k of a row
 * @param inner inner width I of an expert
 * @param normalizesWeights whether the weights of a row are divided by their sum
 * @param every every so many blocks one has experts, the last of them; 1: all
 * @param denseBlocks further blocks without experts, from 0
 * @param auxiliaryLoss coefficient of the auxiliary loss, which evens out the loads of the experts; 0 for none
 */
public record Experts(int count, int perToken, int inner, boolean normalizesWeights, int every,
        List<Integer> denseBlocks, double auxiliaryLoss) {
    public Experts {
        denseBlocks = List.copyOf(denseBlocks);
        if (perToken > count) {
            throw new IllegalArgumentException(
                    "a token has " + perToken + " experts (model.experts-per-token), but there"
                            + " are " + count + " (model.experts): change one of them");
        }
        if (!(auxiliaryLoss >= 0 && auxiliaryLoss < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "the coefficient of the auxiliary loss (model.auxiliary-loss) must be 0 or"
                            + " more, but found " + auxiliaryLoss);
        }
    }

    boolean areIn(int block) {
        return (block + 1) % every == 0 && !denseBlocks.contains(block);
    }
}
