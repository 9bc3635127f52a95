package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;

/**
 * What the layers of a stage share.
 *
 * @param engine
 *            where they compute
 * @param pool
 *            where their activations come from
 * @param model
 *            the model's shape
 * @param microbatchSize
 *            B
 * @param sequenceLength
 *            T of this run, at most the model's
 */
record LayerContext(Engine engine, TensorPool pool, ModelConfig model, int microbatchSize, int sequenceLength) {
    /** Rows of an activation: N = B T. */
    int rows() {
        return microbatchSize * sequenceLength;
    }

    /** The shape of an activation of this width. */
    Shape activation(int width) {
        return Shape.of(rows(), width);
    }
}
