package dev.troupe.parallel;

/**
 * One rank's place among the ranks of a stage with other microbatches and the same weights, except for experts that they
 * divide.
 *
 * @param zero the state that they divide; none in a group of one
 * @param aside runs their exchanges in order, while the stage's thread computes; each blocks until the other members have
 *     reached it
 * @param experts the division of the experts among the same ranks
 */
public record DataShare(TensorGroup group, Zero zero, Aside aside, ExpertShare experts) {
    /** The share of a rank that is alone with its weights. */
    public static final DataShare ALL = new DataShare(TensorGroup.ALONE, Zero.NONE, Runnable::run);

    public DataShare {
        zero = group.size() == 1 ? Zero.NONE : zero;
    }

    /** Creates the share of a rank with every expert. */
    public DataShare(TensorGroup group, Zero zero, Aside aside) {
        this(group, zero, aside, ExpertShare.ALL);
    }

    /** Returns the ranks with the same parameters of a group, from this rank's side. */
    public TensorGroup holders(ParameterGroup parameters) {
        return switch (parameters) {
            case COMMON -> group;
            case EXPERTS -> experts.holders();
        };
    }

    public boolean shares(Zero level) {
        return zero.includes(level);
    }
}
