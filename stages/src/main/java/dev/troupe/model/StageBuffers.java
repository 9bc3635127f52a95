package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The flat buffers of a stage: its weights in one, its gradients in another, and each moment that an optimizer keeps in
 * one more, all under one {@link BufferLayout}. What sees parameters one by one has ranges of them; what treats all
 * numbers alike (optimizer, snapshot, reduction) has a whole buffer, or a few large ranges.
 */
final class StageBuffers implements AutoCloseable {
    private final Engine engine;
    private final BufferLayout layout;
    private final Tensor weights;
    /** Null where nothing is trained. */
    private final Tensor gradients;
    /** The gradient of a second use lies apart: it is summed into the first before anything else is done with it. */
    private final Tensor secondGradient;
    private final List<Tensor> owned = new ArrayList<>();

    /**
     * Allocates the buffers and places all parameters in them; weights and gradients are zero.
     *
     * @param parameters
     *            every parameter whose weights are here, in the order of the layers
     * @param second
     *            a second use of one of them, or null
     * @param trained
     *            whether there are gradients
     */
    StageBuffers(Engine engine, List<Parameter> parameters, Parameter second, boolean trained) {
        this.engine = engine;
        this.layout = new BufferLayout(parameters);
        this.weights = allocate();
        this.gradients = trained ? allocate() : null;
        this.secondGradient = trained && second != null ? own(second.shape()) : null;
        for (Parameter parameter : parameters) {
            parameter.placeWeights(rangeOf(parameter, weights));
            if (trained) {
                parameter.placeGradient(rangeOf(parameter, gradients));
            }
        }
        if (secondGradient != null) {
            second.placeGradient(secondGradient);
        }
    }

    BufferLayout layout() {
        return layout;
    }

    /** All weights. */
    Tensor weights() {
        return weights;
    }

    /** All gradients but that of a second use. */
    Tensor gradients() {
        return gradients;
    }

    /** Bytes of all gradients, that of a second use too; there are some. */
    long gradientBytes() {
        return gradients.byteCount() + (secondGradient == null ? 0 : secondGradient.byteCount());
    }

    /** One more buffer of the same layout, filled with zeros. */
    Tensor allocate() {
        return own(Shape.of(Math.toIntExact(layout.elementCount())));
    }

    /** A parameter's part of a buffer of this layout. */
    Tensor rangeOf(Parameter parameter, Tensor buffer) {
        return engine.range(buffer, layout.start(parameter), parameter.shape());
    }

    /** Fills the weights with what the source has, in the order of the layers. */
    void load(List<Parameter> parameters, WeightSource source) {
        parameters.forEach(
                parameter -> load(engine, source, parameter.name(), parameter.slice(), parameter.weights()));
    }

    /** Makes all gradients zero, that of a second use too. */
    void zeroGradients() {
        engine.fill(gradients, 0);
        zeroSecondGradient();
    }

    /** Makes the gradient of a second use zero, where there is one. */
    void zeroSecondGradient() {
        if (secondGradient != null) {
            engine.fill(secondGradient, 0);
        }
    }

    /** Fills a tensor with its slice of what the source has under this name. */
    static void load(Engine engine, WeightSource source, String name, TensorSlice slice, Tensor target) {
        if (!engine.computes()) {
            return; // its tensors hold no values
        }
        int elementBytes = target.dataType().elementBytes();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(slice.whole().elementCount() * elementBytes, elementBytes);
            source.read(name, slice.whole(), target.dataType(), values);
            if (!slice.isWhole()) {
                MemorySegment whole = values;
                values = arena.allocate(target.byteCount(), elementBytes);
                slice.cut(whole, values, elementBytes);
            }
            engine.copyFromHost(values, target, 0);
        }
    }

    /** The gradients of these parameters become their sums over the group, in one exchange. */
    void addUp(List<Parameter> some, TensorGroup group, TensorPool pool) {
        if (some.isEmpty()) {
            return;
        }
        long count = some.stream().mapToLong(parameter -> parameter.shape().elementCount()).sum();
        Tensor packed = pool.take(gradients.dataType(), Shape.of(Math.toIntExact(count)));
        List<Tensor> parts = partsOf(packed, some);
        for (int i = 0; i < parts.size(); i++) {
            engine.copy(some.get(i).gradient(), parts.get(i));
        }
        group.allReduce(packed);
        for (int i = 0; i < parts.size(); i++) {
            engine.copy(parts.get(i), some.get(i).gradient());
        }
        pool.give(packed);
    }

    private List<Tensor> partsOf(Tensor packed, List<Parameter> some) {
        List<Tensor> parts = new ArrayList<>();
        long next = 0;
        for (Parameter parameter : some) {
            parts.add(engine.range(packed, next, parameter.shape()));
            next += parameter.shape().elementCount();
        }
        return parts;
    }

    private Tensor own(Shape shape) {
        Tensor tensor = engine.allocate(engine.floatType(), shape);
        owned.add(tensor);
        return tensor;
    }

    /** Gives back every buffer, those of {@link #allocate} too. */
    @Override
    public void close() {
        owned.forEach(Tensor::close);
    }
}
