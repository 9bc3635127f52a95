package dev.troupe.parallel;

/**
 * One rank's place among the ranks of a stage with other microbatches and the same weights, except for experts that they
 * divide.
 *
 * @param zero the state that they divide; none in a group of one
 * @param aside runs their exchanges in order, while the stage's thread computes; each blocks until the other members have
 *     reached it
 * @param experts the division of the experts among the same ranks
 * @param replicas whether each rank trains a replica with weights of its own, and the group averages them from time to time
 */
public record DataShare(TensorGroup group, Zero zero, Aside aside, ExpertShare experts, boolean replicas) {
    /** The share of a rank that is alone with its weights. */
    public static final DataShare ALL = new DataShare(TensorGroup.ALONE, Zero.NONE, Runnable::run);

    public DataShare {
        zero = group.size() == 1 ? Zero.NONE : zero;
    }

    /** Creates the share of a rank that has the same weights as the others at every step. */
    public DataShare(TensorGroup group, Zero zero, Aside aside, ExpertShare experts) {
        this(group, zero, aside, experts, false);
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

    /** Returns the same ranks, if {@code replicas} each with a replica of its own. */
    public DataShare withReplicas(boolean replicas) {
        return new DataShare(group, zero, aside, experts, replicas);
    }

    /** Returns the number of this rank's replica, from 0; 0 if all ranks have the same weights. */
    public int replica() {
        return replicas ? group.rank() : 0;
    }

    /** Returns the ranks that have the same weights at every step. */
    public TensorGroup sameWeights() {
        return replicas ? TensorGroup.ALONE : group;
    }

    public boolean shares(Zero level) {
        return zero.includes(level);
    }
}
