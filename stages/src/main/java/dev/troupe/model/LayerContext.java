package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.weights.WeightSource;

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
 * @param source
 *            where the weights come from
 * @param trained
 *            whether parameters have gradients
 */
record LayerContext(Engine engine, TensorPool pool, ModelConfig model, int microbatchSize, int sequenceLength,
        WeightSource source, boolean trained) {
    /** A parameter with the weights of the source. */
    Parameter parameter(String name, int... sizes) {
        return trained ? Parameter.trained(engine, source, name, sizes) : Parameter.frozen(engine, source, name, sizes);
    }

    /** Rows of an activation: N = B T. */
    int rows() {
        return microbatchSize * sequenceLength;
    }

    /** The shape of an activation of this width. */
    Shape activation(int width) {
        return Shape.of(rows(), width);
    }
}
