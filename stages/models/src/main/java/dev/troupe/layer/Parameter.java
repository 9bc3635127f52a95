package dev.troupe.layer;

import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.ParameterGroup;
import dev.troupe.parallel.TensorSlice;

/**
 * A parameter with its gradient, the sum over the microbatches of a step. Both are ranges of the stage's flat buffers, which
 * are allocated after all parameters are known; they must not be read before.
 *
 * <p>Thread rule: as for the engine.
 */
public final class Parameter {
    private final ParameterSpec spec;
    private final TensorSlice slice;
    private final Shape shape;
    private final boolean ofOwnShare;
    private final ParameterGroup group;
    /** The parameter that owns the weights, if this is a second use; null otherwise. */
    private final Parameter first;
    private Tensor weights;
    private Tensor computeWeights;
    private Tensor gradient;

    private Parameter(ParameterSpec spec, TensorSlice slice, boolean ofOwnShare, ParameterGroup group,
            Parameter first) {
        this.spec = spec;
        this.slice = slice;
        this.shape = slice.shape();
        this.ofOwnShare = ofOwnShare;
        this.group = group;
        this.first = first;
    }

    /**
     * Returns a parameter without memory, which every rank of the stage holds.
     *
     * @param ofOwnShare whether the gradient comes from only the rank's own rows of the residual stream, or its own heads
     */
    public static Parameter of(ParameterSpec spec, TensorSlice slice, boolean ofOwnShare) {
        return of(spec, slice, ofOwnShare, ParameterGroup.COMMON);
    }

    /** As above, for a parameter of a group. */
    public static Parameter of(ParameterSpec spec, TensorSlice slice, boolean ofOwnShare, ParameterGroup group) {
        return new Parameter(spec, slice, ofOwnShare, group, null);
    }

    /** Returns a second use of these weights, with a gradient of its own if there are gradients. */
    Parameter secondUse() {
        return new Parameter(spec, slice, ofOwnShare, group, this);
    }

    /** Returns the parameter that owns the weights: itself, or the first use. */
    public Parameter owner() {
        return first == null ? this : first;
    }

    /**
     * Sets the memory of the weights; not for a second use.
     *
     * @param computeRange the weights as products read them, perhaps the same range
     */
    public void placeWeights(Tensor range, Tensor computeRange) {
        weights = range;
        computeWeights = computeRange;
    }

    public void placeGradient(Tensor range) {
        gradient = range;
    }

    public ParameterSpec spec() {
        return spec;
    }

    public String name() {
        return spec.name();
    }

    public Shape shape() {
        return shape;
    }

    /** Returns this rank's part of the whole tensor. */
    public TensorSlice slice() {
        return slice;
    }

    /** Returns whether the gradient is of only this rank's rows or heads, so that the group must sum it. */
    public boolean ofOwnShare() {
        return ofOwnShare;
    }

    /** Returns the group of parameters with the same holders. */
    public ParameterGroup group() {
        return group;
    }

    /** Returns the weights for all operations but products. */
    public Tensor weights() {
        return first == null ? weights : first.weights();
    }

    /** Returns the weights of a matrix as products read them, in the compute type. */
    public Tensor computeWeights() {
        return first == null ? computeWeights : first.computeWeights();
    }

    /** Returns the gradient; null if nothing is trained. */
    public Tensor gradient() {
        return gradient;
    }
}
