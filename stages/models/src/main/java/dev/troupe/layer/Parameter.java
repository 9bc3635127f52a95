package dev.troupe.layer;

import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.parallel.TensorSlice;

/**
 * A trained tensor with its gradient, which adds up over the microbatches of a step. Both are ranges of the
 * stage's flat buffers, which place them once all parameters are known; nobody asks for them before.
 *
 * <p>Thread rule: as for the engine.
 */
public final class Parameter {
    private final ParameterSpec spec;
    private final TensorSlice slice;
    private final Shape shape;
    private final boolean ofOwnShare;
    /** The parameter whose weights these are; null for one that has its own. */
    private final Parameter first;
    private Tensor weights;
    private Tensor computeWeights;
    private Tensor gradient;

    private Parameter(ParameterSpec spec, TensorSlice slice, boolean ofOwnShare, Parameter first) {
        this.spec = spec;
        this.slice = slice;
        this.shape = slice.shape();
        this.ofOwnShare = ofOwnShare;
        this.first = first;
    }

    /**
     * A parameter that is not placed yet.
     *
     * @param slice what of it this rank has
     * @param ofOwnShare whether the gradient comes from the rows of the residual stream or the heads that the rank has,
     *     and no others
     */
    public static Parameter of(ParameterSpec spec, TensorSlice slice, boolean ofOwnShare) {
        return new Parameter(spec, slice, ofOwnShare, null);
    }

    /** A second use of these weights, with a gradient of its own if there are gradients. */
    Parameter secondUse() {
        return new Parameter(spec, slice, ofOwnShare, this);
    }

    /** The parameter that has these weights: itself, or the one that this is a second use of. */
    public Parameter owner() {
        return first == null ? this : first;
    }

    /**
     * Says if the weights are; not for a second use.
     *
     * @param computeRange if they are as products read them, which may be the same
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

    /** The shape of what this rank has. */
    public Shape shape() {
        return shape;
    }

    /** The part of the whole tensor that this rank has. */
    public TensorSlice slice() {
        return slice;
    }

    /** Whether the gradient is of this rank's rows or heads alone, so that the group must still add its gradients up. */
    public boolean ofOwnShare() {
        return ofOwnShare;
    }

    /** The weights of what is no product. */
    public Tensor weights() {
        return first == null ? weights : first.weights();
    }

    /** The weights of a matrix as products read them, in the compute type. */
    public Tensor computeWeights() {
        return first == null ? computeWeights : first.computeWeights();
    }

    /** The gradient; null if nothing is trained. */
    public Tensor gradient() {
        return gradient;
    }
}
