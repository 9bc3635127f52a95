package dev.troupe.model.spec;

import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorSlice;

/**
 * The description of a parameter, from which it is made. Immutable.
 *
 * @param name the name that checkpoints have for it, in its model only one
 * @param shape of the whole tensor
 * @param init how its elements begin
 * @param split what of it each rank of a tensor-parallel group has
 * @param decays whether weight decay acts on it
 * @param isTrained whether a run changes it; one that is frozen has no gradient and no optimizer state
 * @param isHiddenMatrix whether it maps activations to activations, as the matrices of a block do, and no table of
 *     tokens does
 */
public record ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays, boolean isTrained,
        boolean isHiddenMatrix) {
    public ParameterSpec {
        if (split instanceof Split.Along(Axis axis, var pieces)) {
            int size = shape.dimensions().get(shape.dimensionOf(axis)).size();
            if (pieces.stream().mapToInt(Integer::intValue).sum() != size) {
                throw new IllegalArgumentException("the pieces of " + name + " must make the " + size + " indices of "
                        + axis + ", but found " + pieces);
            }
        }
    }

    /** A parameter that is no matrix of a hidden layer. */
    public ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays, boolean isTrained) {
        this(name, shape, init, split, decays, isTrained, false);
    }

    /** A parameter that is trained, and no matrix of a hidden layer. */
    public ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays) {
        this(name, shape, init, split, decays, true);
    }

    /** A matrix of a hidden layer, which decays. */
    public static ParameterSpec hiddenMatrix(String name, NamedShape shape, Init init, Split split,
            boolean isTrained) {
        return new ParameterSpec(name, shape, init, split, true, isTrained, true);
    }

    /** How many numbers the whole tensor has. */
    public long elementCount() {
        return shape.elementCount();
    }

    /**
     * What the calling member of a group has.
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

    /** Whether its gradient is the sum of those that the ranks of a group compute, each for the heads that it has. */
    public boolean isForOwnHeads() {
        return split instanceof Split.WholeForOwnHeads;
    }

    /** Whether it has a row for each token of the vocabulary, which the ranks of a group share out unevenly. */
    public boolean isVocabularyTable() {
        return split instanceof Split.Along(Axis axis, var _) && axis == Axis.VOCABULARY;
    }
}
