package dev.troupe.parallel;

/**
 * What the ranks that hold the same weights share out among them instead of each keeping all of it (ZeRO, Rajbhandari et
 * al. 2020, section 5); each level shares out what the one before it does, too.
 */
public enum Zero {
    /** Nothing. */
    NONE,
    /** The state of the optimizer. */
    OPTIMIZER,
    /** Gradients. */
    GRADIENTS,
    /** Weights. */
    WEIGHTS;

    /** The level of a number, 0 to 3. */
    public static Zero of(int level) {
        return values()[level];
    }

    /** Whether this shares out what another level does. */
    public boolean includes(Zero other) {
        return compareTo(other) >= 0;
    }
}
