package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A trained tensor with its gradient. The gradient adds up over the microbatches of a step.
 *
 * <p>Thread rule: as for the engine.
 */
final class Parameter implements AutoCloseable {
    private final Engine engine;
    private final String name;
    private final Tensor weights;
    private final Tensor gradient;
    private final boolean ownsWeights;

    private Parameter(Engine engine, String name, Tensor weights, Tensor gradient, boolean ownsWeights) {
        this.engine = engine;
        this.name = name;
        this.weights = weights;
        this.gradient = gradient;
        this.ownsWeights = ownsWeights;
    }

    /** A parameter with the weights of the source and a gradient of zero. */
    static Parameter trained(Engine engine, WeightSource source, String name, int... sizes) {
        Shape shape = Shape.of(sizes);
        return new Parameter(engine, name, read(engine, source, name, shape),
                engine.allocate(engine.floatType(), shape),
                true);
    }

    /** A parameter for forwards alone: it has no gradient. */
    static Parameter frozen(Engine engine, WeightSource source, String name, int... sizes) {
        return new Parameter(engine, name, read(engine, source, name, Shape.of(sizes)), null, true);
    }

    /** A second use of these weights, with a gradient of its own where this one has a gradient. */
    Parameter secondUse() {
        Tensor secondGradient = gradient == null ? null : engine.allocate(gradient.dataType(), gradient.shape());
        return new Parameter(engine, name, weights, secondGradient, false);
    }

    private static Tensor read(Engine engine, WeightSource source, String name, Shape shape) {
        Tensor weights = engine.allocate(engine.floatType(), shape);
        load(engine, source, name, weights);
        return weights;
    }

    /** Fills a tensor with what the source has under this name. */
    static void load(Engine engine, WeightSource source, String name, Tensor target) {
        if (!engine.computes()) {
            return; // its tensors hold no values
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(target.byteCount(), target.dataType().elementBytes());
            source.read(name, target.shape(), target.dataType(), values);
            engine.copyFromHost(values, target, 0);
        }
    }

    String name() {
        return name;
    }

    Shape shape() {
        return weights.shape();
    }

    Tensor weights() {
        return weights;
    }

    /** The gradient; the parameter is not a frozen one. */
    Tensor gradient() {
        return gradient;
    }

    /** Whether weight decay acts on it: matrices do decay, biases and norms do not. */
    boolean decays() {
        return shape().rank() >= 2;
    }

    void zeroGradient() {
        engine.fill(gradient, 0);
    }

    @Override
    public void close() {
        if (ownsWeights) {
            weights.close();
        }
        if (gradient != null) {
            gradient.close();
        }
    }
}
