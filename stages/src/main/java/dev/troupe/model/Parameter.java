package dev.troupe.model;

import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/**
 * A trained tensor with its gradient, which adds up over the microbatches of a step. Both are ranges of the stage's
 * {@link StageBuffers}, which places them once all parameters are known; nobody asks for them before.
 *
 * <p>Thread rule: as for the engine.
 */
final class Parameter {
    private final String name;
    private final Shape shape;
    /** The parameter whose weights these are; null for one that has its own. */
    private final Parameter first;
    private Tensor weights;
    private Tensor gradient;

    private Parameter(String name, Shape shape, Parameter first) {
        this.name = name;
        this.shape = shape;
        this.first = first;
    }

    /** A parameter that is not placed yet. */
    static Parameter of(String name, int... sizes) {
        return new Parameter(name, Shape.of(sizes), null);
    }

    /** A second use of these weights, with a gradient of its own where there are gradients. */
    Parameter secondUse() {
        return new Parameter(name, shape, this);
    }

    /** Says where the weights are; not for a second use. */
    void placeWeights(Tensor range) {
        weights = range;
    }

    void placeGradient(Tensor range) {
        gradient = range;
    }

    String name() {
        return name;
    }

    Shape shape() {
        return shape;
    }

    Tensor weights() {
        return first == null ? weights : first.weights();
    }

    /** The gradient; null where nothing is trained. */
    Tensor gradient() {
        return gradient;
    }

    /** Whether weight decay acts on it: matrices do decay, biases and norms do not. */
    boolean decays() {
        return shape.rank() >= 2;
    }
}
