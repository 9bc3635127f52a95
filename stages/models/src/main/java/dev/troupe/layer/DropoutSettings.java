package dev.troupe.layer;

/**
 * Dropout in GPT-2's places (Radford et al. 2019): after the embedding, on the probabilities of attention, and at the end
 * of each half of a block, before its residual.
 *
 * @param probability
 *            of an element to go, from 0 to below 1
 * @param seed
 *            of the run; see {@link dev.troupe.engine.Dropout} for what follows from it
 */
public record DropoutSettings(double probability, long seed) {
    /** Nothing drops out. */
    public static final DropoutSettings NONE = new DropoutSettings(0, 0);

    public DropoutSettings {
        if (!(probability >= 0 && probability < 1)) {
            throw new IllegalArgumentException(
                    "dropout needs a probability from 0 to below 1, but found " + probability);
        }
    }

    /** What one microbatch drops in one step; its number is that among those of all data-parallel ranks. */
    public DropoutKey keyOf(long step, int microbatch) {
        return probability == 0 ? DropoutKey.NONE : new DropoutKey(probability, seed, step, microbatch);
    }
}
