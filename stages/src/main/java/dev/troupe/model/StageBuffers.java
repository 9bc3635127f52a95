package dev.troupe.model;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.BufferLayout.Piece;
import dev.troupe.model.FlatBuffer.Extent;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.IndexRange;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.parallel.Zero;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The flat buffers of a stage: its weights in one, its gradients in another, and each moment that an optimizer keeps in
 * one more, all under one {@link BufferLayout}. In mixed precision there is one more of weights, rounded for the
 * products. What sees parameters one by one has ranges of them; what treats all numbers alike (optimizer, snapshot,
 * reduction) has a whole buffer, or a few large ranges.
 */
final class StageBuffers implements AutoCloseable {
    private final Engine engine;
    private final DataShare data;
    private final BufferLayout layout;
    private final FlatBuffer weights;
    /** The weights in the type that products read; null where that is theirs. */
    private final Tensor operands;
    /** Null where nothing is trained. */
    private final FlatBuffer gradients;
    /** The gradient of a second use lies apart: it is summed into the first before anything else is done with it. */
    private final Tensor secondGradient;
    private final List<Tensor> owned = new ArrayList<>();
    // What this rank has of each parameter's gradient; made once, since every step asks for it.
    private final Map<Parameter, Tensor> gradientShares = new IdentityHashMap<>();
    private final List<Exchanged> exchangedWeights;
    private final List<Exchanged> exchangedGradients;

    /** A bucket of a buffer, and this rank's share of it. */
    private record Exchanged(Tensor whole, Tensor share) {
    }

    /**
     * Allocates the buffers and places all parameters in them; weights and gradients are zero.
     *
     * @param parameters
     *            every parameter whose weights are here, in the order of the layers
     * @param second
     *            a second use of one of them, or null
     * @param trained
     *            whether there are gradients
     * @param data
     *            with whom the buffers are shared out
     */
    StageBuffers(Engine engine, List<Parameter> parameters, Parameter second, boolean trained, DataShare data) {
        this.engine = engine;
        this.data = data;
        this.layout = new BufferLayout(List.of(parameters), data.group().size());
        this.weights = allocate(Extent.ALL);
        this.operands = engine.productType() == engine.floatType()
                ? null
                : own(engine.productType(), weights.tensor().shape());
        this.gradients = trained
                ? allocate(data.shares(Zero.OPTIMIZER) ? Extent.SHARE_IN_PLACE : Extent.ALL)
                : null;
        this.secondGradient = trained && second != null ? own(engine.floatType(), second.shape()) : null;
        for (Parameter parameter : parameters) {
            Tensor own = rangeOf(parameter, weights);
            parameter.placeWeights(own, operands == null
                    ? own
                    : engine.range(operands, layout.start(parameter), parameter.shape()));
            if (trained) {
                parameter.placeGradient(rangeOf(parameter, gradients));
            }
        }
        if (secondGradient != null) {
            second.placeGradient(secondGradient);
        }
        if (trained) {
            parameters.forEach(parameter -> layout.shareOf(parameter, data.group().rank())
                    .ifPresent(
                            piece -> gradientShares.put(parameter, gradients.part(piece, shapeOf(piece, parameter)))));
        }
        this.exchangedWeights = data.shares(Zero.OPTIMIZER) ? exchanged(weights) : List.of();
        this.exchangedGradients = data.shares(Zero.OPTIMIZER) ? exchanged(gradients) : List.of();
    }

    private List<Exchanged> exchanged(FlatBuffer buffer) {
        return layout.buckets().stream()
                .map(bucket -> new Exchanged(buffer.part(layout.whole(bucket)),
                        buffer.part(layout.shareOf(bucket, data.group().rank()))))
                .toList();
    }

    /** All weights. */
    FlatBuffer weights() {
        return weights;
    }

    /** All gradients but that of a second use. */
    FlatBuffer gradients() {
        return gradients;
    }

    /** Bytes of all gradients, that of a second use too; there are some. */
    long gradientBytes() {
        return gradients.tensor().byteCount() + (secondGradient == null ? 0 : secondGradient.byteCount());
    }

    /** A buffer for what an optimizer remembers of each weight that it updates here, filled with zeros. */
    FlatBuffer allocateMoments() {
        return allocate(data.shares(Zero.OPTIMIZER) ? Extent.SHARE : Extent.ALL);
    }

    private FlatBuffer allocate(Extent extent) {
        long count = switch (extent) {
            case ALL, SHARE_IN_PLACE -> layout.elementCount();
            case SHARE -> layout.shareElementCount();
        };
        return new FlatBuffer(engine, own(engine.floatType(), Shape.of(Math.toIntExact(count))), extent);
    }

    /** A parameter's part of a buffer that has all places. */
    private Tensor rangeOf(Parameter parameter, FlatBuffer buffer) {
        return engine.range(buffer.tensor(), layout.start(parameter), parameter.shape());
    }

    /** What an optimizer updates here. */
    List<BufferLayout.Run> runs() {
        return data.shares(Zero.OPTIMIZER) ? layout.runs(data.group().rank()) : layout.runs();
    }

    /**
     * What this rank has of a parameter in a buffer, under a name; empty where that is nothing.
     *
     * @param isCopy
     *            whether another rank that reads the same microbatches has it too, and is the one to write it
     */
    Optional<StateTensor> held(String name, Parameter parameter, FlatBuffer buffer, boolean isCopy) {
        return switch (buffer.extent()) {
            case ALL -> Optional.of(new StateTensor(name, rangeOf(parameter, buffer), parameter.slice(),
                    isCopy || data.group().rank() > 0));
            case SHARE_IN_PLACE, SHARE -> layout.shareOf(parameter, data.group().rank())
                    .map(piece -> new StateTensor(name, buffer.part(piece, shapeOf(piece, parameter)),
                            parameter.slice().part(elementsOf(piece, parameter)), isCopy));
        };
    }

    private IndexRange elementsOf(Piece piece, Parameter parameter) {
        int first = Math.toIntExact(piece.first() - layout.start(parameter));
        return new IndexRange(first, Math.toIntExact(first + piece.count()));
    }

    private static Shape shapeOf(Piece piece, Parameter parameter) {
        return piece.count() == parameter.shape().elementCount()
                ? parameter.shape()
                : Shape.of(Math.toIntExact(piece.count()));
    }

    /** This rank's share of a parameter's gradient, for what the ranks measure together; empty where that is nothing. */
    Optional<Tensor> gradientShare(Parameter parameter) {
        return Optional.ofNullable(gradientShares.get(parameter));
    }

    /** Gradients become their sums over the ranks that hold the same weights, as far as they count here. */
    void reduceGradients() {
        if (data.shares(Zero.OPTIMIZER)) {
            exchangedGradients.forEach(bucket -> data.group().reduceScatter(bucket.whole, bucket.share));
        } else {
            data.group().allReduce(gradients.tensor());
        }
    }

    /** After an update: every rank gets what the others updated of the weights. */
    void gatherWeights() {
        exchangedWeights.forEach(bucket -> data.group().allGather(bucket.share, bucket.whole));
    }

    /** Fills the weights with what the source has, in the order of the layers. */
    void load(List<Parameter> parameters, WeightSource source) {
        parameters.forEach(
                parameter -> load(engine, source, parameter.name(), parameter.slice(), parameter.weights()));
        weightsChanged();
    }

    /** After every change of weights: rounds them for the products, in one kernel call. */
    void weightsChanged() {
        if (operands != null) {
            engine.cast(weights.tensor(), operands);
        }
    }

    /** Makes all gradients zero, that of a second use too. */
    void zeroGradients() {
        engine.fill(gradients.tensor(), 0);
        zeroSecondGradient();
    }

    /** Makes zero what an update left of the gradients, which are those of {@link #runs} and hold zeros already. */
    void zeroOtherGradients() {
        if (gradients.extent() == Extent.SHARE_IN_PLACE) {
            engine.fill(gradients.tensor(), 0);
        }
        zeroSecondGradient();
    }

    private void zeroSecondGradient() {
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
        Tensor packed = pool.take(gradients.tensor().dataType(), Shape.of(Math.toIntExact(count)));
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

    private Tensor own(DataType dataType, Shape shape) {
        Tensor tensor = engine.allocate(dataType, shape);
        owned.add(tensor);
        return tensor;
    }

    /** Gives back every buffer, those of {@link #allocate} too. */
    @Override
    public void close() {
        owned.forEach(Tensor::close);
    }
}
