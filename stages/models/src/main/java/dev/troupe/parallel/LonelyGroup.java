package dev.troupe.parallel;

import dev.troupe.engine.Tensor;

/** A group of one, in which each tensor already has its result. */
final class LonelyGroup implements TensorGroup {
    @Override
    public int size() {
        return 1;
    }

    @Override
    public int rank() {
        return 0;
    }

    @Override
    public void allReduce(Tensor tensor) {
    }

    @Override
    public void allReduce(double[] values) {
    }

    @Override
    public void allReduceMax(Tensor tensor) {
    }

    @Override
    public void reduceScatter(Tensor whole, Tensor slice) {
        requireSame(whole, slice);
    }

    @Override
    public void allGather(Tensor slice, Tensor whole) {
        requireSame(whole, slice);
    }

    @Override
    public void allToAll(Tensor source, int[][] rows, Tensor target) {
        requireSame(target, source);
    }

    private static void requireSame(Tensor whole, Tensor slice) {
        if (whole != slice) {
            throw new IllegalArgumentException("in a group of one the slice is the whole: expected one tensor for both,"
                    + " but found two, " + slice.shape() + " and " + whole.shape());
        }
    }
}
