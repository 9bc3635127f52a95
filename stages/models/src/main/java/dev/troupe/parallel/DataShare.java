package dev.troupe.parallel;

/**
 * One rank's place among those that hold the same weights and read other microbatches.
 *
 * @param group these ranks
 * @param zero what they share out; nothing in a group of one
 * @param aside runs what these ranks exchange while the stage's thread computes; one task after another, in the order
 *     given, each of which blocks until the other members have come to it
 */
public record DataShare(TensorGroup group, Zero zero, Aside aside) {
    /** The share of a rank that is alone with its weights. */
    public static final DataShare ALL = new DataShare(TensorGroup.ALONE, Zero.NONE, Runnable::run);

    public DataShare {
        zero = group.size() == 1 ? Zero.NONE : zero;
    }

    /** Whether this level, or one above it, is in force. */
    public boolean shares(Zero level) {
        return zero.includes(level);
    }
}
