package dev.troupe.layer;

import dev.troupe.layer.drop.LayerDrop;

/**
 * Dropout in GPT-2's places (Radford et al. 2019): after the embedding, on the probabilities of attention, and at the end of
 * each half of a block, before its residual; and on the input of each low-rank adapter (Hu et al. 2022). Whole halves may be
 * dropped too.
 *
 * @param probability the probability that an element is dropped, from 0 to below 1
 * @param adapterProbability the probability for an element of an adapter's input
 * @param layers the drop of whole halves of blocks
 * @param seed of the run; see {@link dev.troupe.engine.Dropout}
 */
public record DropoutSettings(double probability, double adapterProbability, LayerDrop layers, long seed) {
    public static final DropoutSettings NONE = new DropoutSettings(0, 0, LayerDrop.NONE, 0);

    public DropoutSettings {
        for (double one : new double[]{probability, adapterProbability}) {
            if (!(one >= 0 && one < 1)) {
                throw new IllegalArgumentException("dropout needs a probability from 0 to below 1, but found " + one);
            }
        }
    }

    /** Creates dropout in GPT-2's places alone. */
    public DropoutSettings(double probability, long seed) {
        this(probability, 0, LayerDrop.NONE, seed);
    }

    /** Returns the same with every half kept as if it were drawn, to count memory. */
    public DropoutSettings keepingAllHalves() {
        return new DropoutSettings(probability, adapterProbability, layers.keepingAll(), seed);
    }

    /**
     * Returns the dropouts of one microbatch in one step.
     *
     * @param microbatch its number over all data-parallel ranks
     * @param wholeLength tokens of a sequence of the run
     */
    public DropoutKey keyOf(long step, int microbatch, int length, int wholeLength) {
        return new DropoutKey(probability, adapterProbability, layers, seed, step, microbatch, length, wholeLength);
    }
}
