package dev.troupe.parallel;

import dev.troupe.engine.Tensor;

/**
 * The ranks that share a stage, seen from one of them. Every member calls the same operations in the same order with tensors
 * of the same types and shapes; tensors belong to the member's own engine.
 *
 * <p>Sums are added in the order of rank 0, 1, 2 ..., in the tensor's type (in float32 for a narrower one, rounded once), so
 * that all members get the same bits, on every run.
 *
 * <p>Thread rule: each call blocks the stage's thread until all members have come to it. It waits for work that the engine
 * still computes, except for engines that compute late on one device: these add up there, after it. Every call may throw the
 * implementation's unchecked exception, with a sentence on the member or the deadline: a member is dead, or the deadline has
 * passed. The stage can compute nothing more in this epoch then.
 */
public interface TensorGroup {
    /** The group of a stage that is not shared: each operation leaves its tensor as it is. */
    TensorGroup ALONE = new LonelyGroup();

    int size();

    /** Returns this member's place in the group, 0 .. {@link #size} - 1. */
    int rank();

    /** Turns every member's float tensor into the sum of all. */
    void allReduce(Tensor tensor);

    /** Turns every member's values into the sums of all, index by index: for the few numbers of a step. */
    void allReduce(double[] values);

    /** Turns every element of every member's float tensor into the largest of all. */
    void allReduceMax(Tensor tensor);

    /**
     * Gives each member one slice of the sum: rows {@code rank k .. (rank + 1) k - 1} of the first dimension.
     *
     * @param whole this member's addend, float [k size x ...]; left with any content
     * @param slice [k x ...]; overwritten; may be its own range of {@code whole}. In a group of one it is the same tensor as
     *     {@code whole}
     */
    void reduceScatter(Tensor whole, Tensor slice);

    /**
     * Gives every member the slices of all, one after another along the first dimension in the order of ranks.
     *
     * @param slice this member's part, of any type, [k x ...]; may be its own range of {@code whole}
     * @param whole [k size x ...]; overwritten. In a group of one it is the same tensor as {@code slice}
     */
    void allGather(Tensor slice, Tensor whole);
}
