package dev.troupe.parallel;

import dev.troupe.engine.Tensor;

/**
 * The ranks that share a stage, as one of them sees them. Every member calls the same operations in the same order with
 * tensors of the same types and shapes; tensors are those of the member's own engine.
 *
 * <p>Sums are those of rank 0, 1, 2 ... in this order, in the tensor's type (in float32 for a narrower one, rounded
 * once), so that all members get the same bits, on every run.
 *
 * <p>Thread rule: each call blocks the stage's thread until all members have come to it. It waits for what the engine still
 * computes, but for engines that compute late on one device: these add up there, behind it. Every call may throw the
 * implementation's unchecked exception, whose sentence names the member or the deadline: a member is dead, or the deadline
 * has passed. The stage can compute nothing more in this epoch then.
 */
public interface TensorGroup {
    /** The group of a stage that is not shared: each operation leaves its tensor as it is. */
    TensorGroup ALONE = new LonelyGroup();

    /** Members of the group, at least 1. */
    int size();

    /** This member's place in the group, 0 .. {@link #size} - 1. */
    int rank();

    /** Every member's float tensor becomes the sum of them all. */
    void allReduce(Tensor tensor);

    /** Every member's values become the sums of them all, index by index: for the few numbers of a step. */
    void allReduce(double[] values);

    /** Every element of every member's float tensor becomes the largest of them all. */
    void allReduceMax(Tensor tensor);

    /**
     * Each member gets one slice of the sum: rows {@code rank k .. (rank + 1) k - 1} of the first dimension.
     *
     * @param whole this member's addend, float [k size x ...]; left with any content
     * @param slice [k x ...]; overwritten; a range of {@code whole} if it is its own place there. In a group of one
     *     it is the same tensor as {@code whole}
     */
    void reduceScatter(Tensor whole, Tensor slice);

    /**
     * Every member gets the slices of all, one after another along the first dimension in the order of ranks.
     *
     * @param slice this member's part, of any type, [k x ...]; a range of {@code whole} if it is its own place there
     * @param whole [k size x ...]; overwritten. In a group of one it is the same tensor as {@code slice}
     */
    void allGather(Tensor slice, Tensor whole);
}
