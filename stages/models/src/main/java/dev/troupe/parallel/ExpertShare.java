package dev.troupe.parallel;

/**
 * One rank's place among the data-parallel ranks of a stage that divide its experts (expert parallelism, Lepikhin et al.
 * 2020).
 *
 * @param group the R ranks that have each expert once; rank r has the r-th of R equal ranges of the experts
 * @param holders the ranks with the same experts and other microbatches
 * @param addsInTree whether the gradients of an expert are added over the ranks of its rows in a balanced tree; they are
 *     zero before each backward then
 */
public record ExpertShare(TensorGroup group, TensorGroup holders, boolean addsInTree) {
    /** The share of a rank that has every expert. */
    public static final ExpertShare ALL = new ExpertShare(TensorGroup.ALONE, TensorGroup.ALONE, false);

    /** Returns whether a rank has only some experts. */
    public boolean divides() {
        return group.size() > 1;
    }

    /**
     * Returns this rank's experts of a layer.
     *
     * @throws IllegalArgumentException if the ranks cannot have the same number of them
     */
    public IndexRange of(int experts) {
        if (experts % group.size() != 0) {
            throw new IllegalArgumentException(
                    experts + " experts cannot be divided equally among " + group.size() + " ranks");
        }
        return IndexRange.share(experts, group.rank(), group.size());
    }
}
