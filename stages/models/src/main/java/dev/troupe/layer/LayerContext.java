package dev.troupe.layer;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.ExpertShare;
import dev.troupe.parallel.LayerMoves;
import dev.troupe.parallel.ParameterGroup;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The common context of the layers of a stage: engine, sizes, this rank's share, and their parameters by name. */
public final class LayerContext {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The number of shapes of an {@link #exchanged} tensor. */
    public static final int EXCHANGED_SHAPES = 64;

    private final Engine engine;
    private final TensorPool pool;
    private final int hidden;
    private final int microbatchSize;
    private final int sequenceLength;
    private final int microbatchesPerStep;
    private final TensorShare share;
    private final LayerMoves moves;
    private final ExpertShare experts;
    private final Named named;

    /** The parameters and constants that layers share by name. */
    private record Named(Map<String, Parameter> parameters, Map<String, Tensor> constants) {
    }

    /**
     * @param hidden width C of the residual stream
     * @param microbatchSize B
     * @param sequenceLength T of this run, at most the model's
     * @param microbatchesPerStep the number of microbatches over which the gradient is a mean
     */
    public LayerContext(Engine engine, TensorPool pool, int hidden, int microbatchSize, int sequenceLength,
            int microbatchesPerStep, TensorShare share) {
        this(engine, pool, hidden, microbatchSize, sequenceLength, microbatchesPerStep, share, ExpertShare.ALL);
    }

    /** As above, on one of the ranks that divide the experts. */
    public LayerContext(Engine engine, TensorPool pool, int hidden, int microbatchSize, int sequenceLength,
            int microbatchesPerStep, TensorShare share, ExpertShare experts) {
        this(engine, pool, hidden, microbatchSize, sequenceLength, microbatchesPerStep, share,
                LayerMoves.of(share.cutsRows(), false), experts, new Named(new HashMap<>(), new HashMap<>()));
    }

    private LayerContext(Engine engine, TensorPool pool, int hidden, int microbatchSize, int sequenceLength,
            int microbatchesPerStep, TensorShare share, LayerMoves moves, ExpertShare experts,
            Named named) {
        this.engine = engine;
        this.pool = pool;
        this.hidden = hidden;
        this.microbatchSize = microbatchSize;
        this.sequenceLength = sequenceLength;
        this.microbatchesPerStep = microbatchesPerStep;
        this.share = share;
        this.moves = moves;
        this.experts = experts;
        this.named = named;
    }

    /** Returns a context with the same parameters and constants for shorter sequences. */
    public LayerContext ofSequences(int length, TensorPool activations) {
        return new LayerContext(engine, activations, hidden, microbatchSize, length, microbatchesPerStep, share, moves,
                experts, named);
    }

    /**
     * Returns a context with the same constants and parameters for layers that have more parameters: the further ones are
     * its own.
     */
    public LayerContext withOwnParameters(TensorPool activations) {
        return new LayerContext(engine, activations, hidden, microbatchSize, sequenceLength, microbatchesPerStep, share,
                moves, experts, new Named(new HashMap<>(named.parameters()), named.constants()));
    }

    /** Returns a context with the same parameters and constants for a layer of the model, with its moves. */
    public LayerContext of(int layer) {
        return new LayerContext(engine, pool, hidden, microbatchSize, sequenceLength, microbatchesPerStep, share,
                share.moves(layer), experts, named);
    }

    public Engine engine() {
        return engine;
    }

    public TensorPool pool() {
        return pool;
    }

    public int hidden() {
        return hidden;
    }

    public int microbatchSize() {
        return microbatchSize;
    }

    /** Returns the most tokens of a sequence: T of this run, at most the model's. A microbatch may have a smaller T. */
    public int sequenceLength() {
        return sequenceLength;
    }

    /** Returns the microbatches over which the gradient is a mean. */
    public int microbatchesPerStep() {
        return microbatchesPerStep;
    }

    public TensorShare share() {
        return share;
    }

    /** Returns the moves of this layer's input and output among {@link #share the ranks of the stage}. */
    public LayerMoves moves() {
        return moves;
    }

    /** Returns the ranks that divide the computation of this layer: of one if each computes it whole. */
    public TensorGroup group() {
        return moves.isWhole() ? TensorGroup.ALONE : share.group();
    }

    public ExpertShare experts() {
        return experts;
    }

    /** Returns the rows of the longest activation: N = B T. */
    public int rows() {
        return rows(sequenceLength);
    }

    /** Returns the shapes of an activation of this width: [N x width]. */
    public TensorPool.Extent activation(int width) {
        return extent(length -> Shape.of(rows(length), width));
    }

    /** Returns the shapes of an activation with {@code copies} rows for each row of the stream: [N copies x width]. */
    public TensorPool.Extent activation(int copies, int width) {
        return extent(length -> Shape.of(Math.multiplyExact(rows(length), copies), width));
    }

    /** Returns the shapes of a one-dimensional tensor with {@code count} numbers for each row of an activation. */
    public TensorPool.Extent perRow(int count) {
        return extent(length -> Shape.of(Math.multiplyExact(rows(length), count)));
    }

    /**
     * Returns the shapes of rows from several ranks: the k-th has k sixty-fourths of the most rows, rounded up. So there
     * are few shapes, whatever the number of rows.
     *
     * @param mostOfRow the most rows for each row of one rank's longest activation
     */
    public TensorPool.Extent exchanged(int mostOfRow, int width) {
        int most = Math.multiplyExact(rows(), mostOfRow);
        return new TensorPool.Extent(EXCHANGED_SHAPES,
                part -> Shape.of(Math.toIntExact(Math.ceilDiv((long) most * part, EXCHANGED_SHAPES)), width));
    }

    /** Returns the shapes of the state that attention of {@code heads} heads keeps. */
    public TensorPool.Extent attentionState(int heads) {
        return extent(length -> engine.attentionStateShape(microbatchSize, length, heads));
    }

    /** Returns the shapes of a tensor of this stage's microbatches, by the length of their sequences. */
    TensorPool.Extent extent(IntFunction<Shape> shapes) {
        return new TensorPool.Extent(sequenceLength, shapes);
    }

    private int rows(int length) {
        return Math.multiplyExact(microbatchSize, length);
    }

    /** Returns this rank's part of a width that the group divides evenly. */
    public int own(int width) {
        return width / group().size();
    }

    /** Returns this rank's share of a parameter, or a second use of it if a layer of the stage has it already. */
    public Parameter parameter(ParameterSpec spec) {
        return parameter(spec, spec.isForOwnHeads() && group().size() > 1, ParameterGroup.COMMON);
    }

    /** As {@link #parameter}, of one of this rank's experts. */
    public Parameter expertParameter(ParameterSpec spec) {
        return parameter(spec, false, experts.divides() ? ParameterGroup.EXPERTS : ParameterGroup.COMMON);
    }

    /** As {@link #parameter}, with a gradient from only the rank's rows of the residual stream. */
    Parameter streamParameter(ParameterSpec spec) {
        return parameter(spec, moves.cutsRows(), ParameterGroup.COMMON);
    }

    /**
     * Returns a constant tensor of the float type, one for all layers of the stage that use this name. Layers of shorter
     * sequences use the same one.
     *
     * @param values row-major; called once if the engine holds values
     */
    public Tensor constant(String name, Shape shape, Supplier<double[]> values) {
        return named.constants().computeIfAbsent(name, _ -> {
            Tensor tensor = pool.takeFloats(shape);
            if (!engine.holdsValues()) {
                return tensor; // of a walk through sizes, which is made for many ranks
            }
            boolean single = tensor.dataType() == DataType.FLOAT32;
            MemorySegment host = MemorySegment
                    .ofArray(new long[Math.toIntExact(Math.ceilDiv(tensor.byteCount(), Long.BYTES))])
                    .asSlice(0, tensor.byteCount());
            double[] numbers = values.get();
            for (int i = 0; i < numbers.length; i++) {
                if (single) {
                    host.setAtIndex(FLOAT, i, (float) numbers[i]);
                } else {
                    host.setAtIndex(DOUBLE, i, numbers[i]);
                }
            }
            engine.copyFromHost(host, tensor, 0);
            return tensor;
        });
    }

    private Parameter parameter(ParameterSpec spec, boolean ofOwnShare, ParameterGroup group) {
        Parameter first = named.parameters().get(spec.name());
        if (first != null) {
            return first.secondUse();
        }
        Parameter made = Parameter.of(spec, spec.slice(group()), ofOwnShare, group);
        named.parameters().put(spec.name(), made);
        return made;
    }
}
