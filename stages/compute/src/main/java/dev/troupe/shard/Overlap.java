package dev.troupe.shard;

/**
 * The copies that a stage holds so that its steps may overlap: the certificate of a plan counts them.
 *
 * @param weightVersions
 *            versions of the weights: 1, or 2 for the newest and the one before
 * @param gradientSums
 *            sums of gradients that live at once: 1, or 2 so that a step adds while the sum of the one before waits
 */
public record Overlap(int weightVersions, int gradientSums) {
    /** A step begins when the one before has updated. */
    public static final Overlap NONE = new Overlap(1, 1);

    private static final int MOST = 2;

    public Overlap {
        if (weightVersions < 1 || weightVersions > MOST || gradientSums < 1 || gradientSums > MOST) {
            throw new IllegalArgumentException(
                    "a stage holds 1 or 2 versions of its weights and 1 or 2 sums of gradients, but"
                            + " was asked for " + weightVersions + " and " + gradientSums);
        }
    }
}
