package dev.troupe.shard;

/**
 * The number of copies that a stage holds if steps overlap; a plan's certificate counts them.
 *
 * @param weightVersions versions of the weights: the newest and older ones
 * @param gradientSums sums of gradients at one time: with more than 1, a step can add while the last step's sum waits for
 *     its update
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
