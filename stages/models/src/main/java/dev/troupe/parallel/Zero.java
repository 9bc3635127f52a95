package dev.troupe.parallel;

/**
 * The levels of ZeRO (Rajbhandari et al. 2020, section 5): the state that ranks with the same weights divide. Each level
 * includes the one before it.
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

    /** Returns the level of a number, 0 to 3. */
    public static Zero of(int level) {
        return values()[level];
    }

    public boolean includes(Zero other) {
        return compareTo(other) >= 0;
    }
}
