package dev.troupe.parallel;

import dev.troupe.engine.Tensor;

/**
 * The tensor-parallel group of a stage, as one of its ranks uses it. Every member calls the same operations in the same
 * order with tensors of the same types and shapes; tensors belong to the member's own engine.
 *
 * <p>Sums are added in the order of ranks, in the tensor's type (float32 for a narrower one, rounded once), so that all
 * members get the same bits on every run.
 *
 * <p>Thread rule: each call blocks the stage's thread until all members have reached it. It waits for the engine's pending
 * work, except if all engines compute late on one device, which then sums after that work. If a member is dead or the
 * deadline has passed, a call throws the implementation's unchecked exception with a sentence. The stage cannot compute
 * further in this epoch.
 */
public interface TensorGroup {
    /** The group of a stage that is not shared: each operation leaves its tensor as it is. */
    TensorGroup ALONE = new LonelyGroup();

    int size();

    /** Returns this member's place in the group, 0 .. {@link #size} - 1. */
    int rank();

    /** Replaces every member's float tensor by the sum of all. */
    void allReduce(Tensor tensor);

    /** Replaces every member's values by the sums of all, index by index: for the few numbers of a step. */
    void allReduce(double[] values);

    /** Replaces every element of every member's float tensor by the largest of all. */
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

    /**
     * Gives each member its rows of every member's tensor. Tensors of members may have different numbers of rows.
     *
     * @param source of any type, this member's rows for members 0, 1, 2 ..., one after another; further rows are not read
     * @param rows [size][size]: the number of rows from each member to each, equal for all members
     * @param target overwritten with the rows of members 0, 1, 2 ... for this one; further rows have any content
     */
    void allToAll(Tensor source, int[][] rows, Tensor target);
}
