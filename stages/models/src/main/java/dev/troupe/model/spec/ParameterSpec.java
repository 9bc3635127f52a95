package dev.troupe.model.spec;

import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorSlice;

/**
 * The declaration of a parameter. Immutable.
 *
 * @param name its name in checkpoints, unique in its model
 * @param split the share of each tensor-parallel rank
 * @param decays whether weight decay acts on it
 * @param isTrained whether a run changes it; a frozen one has no gradient and no optimizer state
 * @param isHiddenMatrix whether it maps activations to activations: true for the matrices of a block, false for tables of
 *     tokens
 * @param followsLoads whether it is moved by the loads of experts, and has no gradient
 */
public record ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays, boolean isTrained,
        boolean isHiddenMatrix, boolean followsLoads) {
    public ParameterSpec {
        if (split instanceof Split.Along(Axis axis, var pieces)) {
            int size = shape.dimensions().get(shape.dimensionOf(axis)).size();
            if (pieces.stream().mapToInt(Integer::intValue).sum() != size) {
                throw new IllegalArgumentException("the pieces of " + name + " must make the " + size + " indices of "
                        + axis + ", but found " + pieces);
            }
        }
    }

    /** Creates a parameter that is no matrix of a hidden layer. */
    public ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays, boolean isTrained) {
        this(name, shape, init, split, decays, isTrained, false, false);
    }

    /** Creates a parameter that is trained, and no matrix of a hidden layer. */
    public ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays) {
        this(name, shape, init, split, decays, true);
    }

    /** Returns a matrix of a hidden layer, which decays. */
    public static ParameterSpec hiddenMatrix(String name, NamedShape shape, Init init, Split split,
            boolean isTrained) {
        return new ParameterSpec(name, shape, init, split, true, isTrained, true, false);
    }

    /** Returns a bias of the choice of experts, at first 0, which every rank has. */
    public static ParameterSpec ofLoads(String name, NamedShape shape, boolean isTrained) {
        return new ParameterSpec(name, shape, new Init.Constant(0), new Split.Whole(), false, isTrained, false, true);
    }

    public long elementCount() {
        return shape.elementCount();
    }

    /**
     * Returns the share of the calling member of a group.
     *
     * @throws IllegalArgumentException if a piece has fewer indices than the group has members
     */
    public TensorSlice slice(TensorGroup group) {
        return switch (split) {
            case Split.Whole(),Split.WholeForOwnHeads() -> TensorSlice.whole(shape.sizes());
            case Split.Along(Axis axis, var pieces) ->
                TensorSlice.share(shape.sizes(), shape.dimensionOf(axis), pieces, group.rank(), group.size());
        };
    }

    /** Returns whether each rank of a group computes a gradient for its own heads, and the gradient is their sum. */
    public boolean isForOwnHeads() {
        return split instanceof Split.WholeForOwnHeads;
    }

    /** Returns whether it has a row for each token of the vocabulary, which the ranks of a group share unevenly. */
    public boolean isVocabularyTable() {
        return split instanceof Split.Along(Axis axis, var _) && axis == Axis.VOCABULARY;
    }
}
