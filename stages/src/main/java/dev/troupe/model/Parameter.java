package dev.troupe.model;

import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorSlice;

/**
 * A trained tensor with its gradient, which adds up over the microbatches of a step. Both are ranges of the stage's
 * {@link StageBuffers}, which places them once all parameters are known; nobody asks for them before.
 *
 * <p>Thread rule: as for the engine.
 */
final class Parameter {
    private final String name;
    private final TensorSlice slice;
    private final Shape shape;
    private final boolean ofOwnRows;
    /** The parameter whose weights these are; null for one that has its own. */
    private final Parameter first;
    private Tensor weights;
    private Tensor operand;
    private Tensor gradient;

    private Parameter(String name, TensorSlice slice, boolean ofOwnRows, Parameter first) {
        this.name = name;
        this.slice = slice;
        this.shape = slice.shape();
        this.ofOwnRows = ofOwnRows;
        this.first = first;
    }

    /** A parameter that every rank of the stage has whole, with the same gradient; not placed yet. */
    static Parameter of(String name, int... sizes) {
        return of(name, TensorSlice.whole(Shape.of(sizes)));
    }

    /** A parameter of which this rank has a slice; not placed yet. */
    static Parameter of(String name, TensorSlice slice) {
        return new Parameter(name, slice, false, null);
    }

    /**
     * A parameter that every rank of the stage has whole, with a gradient from the rows of the residual stream that the
     * rank has; not placed yet.
     */
    static Parameter ofStream(LayerContext context, String name, int... sizes) {
        return new Parameter(name, TensorSlice.whole(Shape.of(sizes)), context.share().cutsRows(), null);
    }

    /** A second use of these weights, with a gradient of its own where there are gradients. */
    Parameter secondUse() {
        return new Parameter(name, slice, ofOwnRows, this);
    }

    /** The parameter that has these weights: itself, or the one that this is a second use of. */
    Parameter owner() {
        return first == null ? this : first;
    }

    /**
     * Says where the weights are; not for a second use.
     *
     * @param productRange
     *            where they are as products read them, which may be the same
     */
    void placeWeights(Tensor range, Tensor productRange) {
        weights = range;
        operand = productRange;
    }

    void placeGradient(Tensor range) {
        gradient = range;
    }

    String name() {
        return name;
    }

    /** The shape of what this rank has. */
    Shape shape() {
        return shape;
    }

    /** What of the whole tensor this rank has. */
    TensorSlice slice() {
        return slice;
    }

    /** Whether the gradient is of this rank's rows alone, so that the group must still add its gradients up. */
    boolean ofOwnRows() {
        return ofOwnRows;
    }

    Tensor weights() {
        return first == null ? weights : first.weights();
    }

    /** The weights of a matrix as products read them, in the engine's product type. */
    Tensor operand() {
        return first == null ? operand : first.operand();
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
