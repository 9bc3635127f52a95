package dev.troupe.stage;

import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/**
 * What crosses the borders of a stage.
 *
 * @param stage
 *            the stage's index
 * @param shape
 *            of every tensor that comes in or goes out
 */
record Border(int stage, Shape shape) {
    /**
     * Checks what a neighbour gave.
     *
     * @param expected
     *            whether there must be a tensor; otherwise there must be none
     * @throws IllegalArgumentException
     *             where that is not so
     */
    void check(String what, int microbatch, Tensor tensor, boolean expected) {
        if (expected && tensor != null && tensor.shape().equals(shape)) {
            return;
        }
        if (expected || tensor != null) {
            throw new IllegalArgumentException("stage " + stage + " expects "
                    + (expected ? what + " of shape " + shape : "nothing") + " from its neighbour for microbatch "
                    + microbatch + ", but found " + (tensor == null ? "none" : what + " of shape " + tensor.shape()));
        }
    }
}
