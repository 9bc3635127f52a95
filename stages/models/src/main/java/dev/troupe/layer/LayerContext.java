package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.TensorShare;
import java.util.HashMap;
import java.util.Map;

/** What the layers of a stage share: where they compute, sizes, this rank's share, and their parameters by name. */
public final class LayerContext {
    private final Engine engine;
    private final TensorPool pool;
    private final int hidden;
    private final int microbatchSize;
    private final int sequenceLength;
    private final int microbatchesPerStep;
    private final TensorShare share;
    private final Map<String, Parameter> parameters = new HashMap<>();

    /**
     * @param pool
     *            where activations come from
     * @param hidden
     *            width C of the residual stream
     * @param microbatchSize
     *            B
     * @param sequenceLength
     *            T of this run, at most the model's
     * @param microbatchesPerStep
     *            over how many microbatches the gradient is a mean
     * @param share
     *            what of the stage is this rank's
     */
    public LayerContext(Engine engine, TensorPool pool, int hidden, int microbatchSize, int sequenceLength,
            int microbatchesPerStep, TensorShare share) {
        this.engine = engine;
        this.pool = pool;
        this.hidden = hidden;
        this.microbatchSize = microbatchSize;
        this.sequenceLength = sequenceLength;
        this.microbatchesPerStep = microbatchesPerStep;
        this.share = share;
    }

    public Engine engine() {
        return engine;
    }

    public TensorPool pool() {
        return pool;
    }

    int hidden() {
        return hidden;
    }

    public int microbatchSize() {
        return microbatchSize;
    }

    public int sequenceLength() {
        return sequenceLength;
    }

    int microbatchesPerStep() {
        return microbatchesPerStep;
    }

    public TensorShare share() {
        return share;
    }

    /** Rows of an activation: N = B T. */
    public int rows() {
        return Math.multiplyExact(microbatchSize, sequenceLength);
    }

    /** The shape of an activation of this width. */
    Shape activation(int width) {
        return Shape.of(rows(), width);
    }

    /** A width that the ranks of the group share out evenly, as this rank has it. */
    int own(int width) {
        return width / share.group().size();
    }

    /** This rank's share of a parameter, or where a layer of the stage has it already a second use of that. */
    Parameter parameter(ParameterSpec spec) {
        return parameter(spec, false);
    }

    /** As {@link #parameter}, with a gradient from the rows of the residual stream that the rank has. */
    Parameter streamParameter(ParameterSpec spec) {
        return parameter(spec, share.cutsRows());
    }

    private Parameter parameter(ParameterSpec spec, boolean ofOwnRows) {
        Parameter first = parameters.get(spec.name());
        if (first != null) {
            return first.secondUse();
        }
        Parameter made = Parameter.of(spec, spec.slice(share.group()), ofOwnRows);
        parameters.put(spec.name(), made);
        return made;
    }
}
