package dev.troupe.shard;

/**
 * The copies that a stage holds so that its steps may overlap: the certificate of a plan counts them.
 *
 * @param weightVersions versions of the weights: the newest, and those before the last updates
 * @param gradientSums sums of gradients that live at once: more than 1 so that a step adds while the sum of the one
 *     before waits
 */
public record Overlap(int weightVersions, int gradientSums) {
    /** No overlap: a step begins when the one before has updated. */
    public static final Overlap NONE = new Overlap(1, 1);

    public Overlap {
        if (weightVersions < 1 || gradientSums < 1) {
            throw new IllegalArgumentException(
                    "a stage holds 1 or more versions of its weights and sums of gradients, but was asked for "
                            + weightVersions + " and " + gradientSums);
        }
    }
}
