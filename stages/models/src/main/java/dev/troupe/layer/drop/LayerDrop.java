package dev.troupe.layer.drop;

/**
 * Progressive layer dropping (Zhang and He 2020, "Accelerating Training of Transformer-Based Language Models with
 * Progressive Layer Dropping", algorithm 1). A gate decides for each half of a block and microbatch whether the half is
 * computed; a dropped half is the identity. The addend of a half that is kept is divided by its probability.
 *
 * <p>The probability that a half of block l (0 .. L-1) is kept in step t is {@code 1 - (l / L) (1 - theta(t))} with
 * {@code theta(t) = (1 - keep) e^(-decay t) + keep}: 1 in the first step, and in the first block always.
 *
 * @param keep the limit of theta, above 0; 1: nothing is dropped
 * @param decay the rate at which theta falls, for a step
 * @param blocks L
 * @param draws whether gates are drawn; if not, every half is kept and divided, which needs most memory
 */
public record LayerDrop(double keep, double decay, int blocks, boolean draws) {
    /** Every half is kept. */
    public static final LayerDrop NONE = new LayerDrop(1, 0, 1, true);

    public LayerDrop {
        if (!(keep > 0 && keep <= 1) || !(decay >= 0) || blocks < 1) {
            throw new IllegalArgumentException("layer drop needs a probability above 0 and up to 1, a decay of 0 or"
                    + " more, and a block or more, but found " + keep + ", " + decay + " and " + blocks);
        }
    }

    /** Returns whether any half may be dropped. */
    public boolean drops() {
        return keep < 1;
    }

    /** Returns the same without gates, to count memory. */
    public LayerDrop keepingAll() {
        return new LayerDrop(keep, decay, blocks, false);
    }

    /**
     * Returns the probability that a half is dropped.
     *
     * @param block the block's number in the model: the embedding is 0
     */
    public double dropProbability(long step, int block) {
        return (block - 1.0) / blocks * (1 - keep) * -StrictMath.expm1(-decay * step);
    }

    /** Returns the mean over the first {@code steps} steps of the probability that a half is kept. */
    public double meanKeepProbability(long steps, int block) {
        double falls = decay * steps;
        double mean = falls == 0 ? 0 : 1 + StrictMath.expm1(-falls) / falls;
        return 1 - (block - 1.0) / blocks * (1 - keep) * mean;
    }
}
