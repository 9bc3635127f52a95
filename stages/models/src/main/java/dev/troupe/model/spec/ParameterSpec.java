package dev.troupe.model.spec;

import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorSlice;

/**
 * What is to be known of a parameter before there is one. Immutable.
 *
 * @param name
 *            the name that checkpoints have for it, in its model only one
 * @param shape
 *            of the whole tensor
 * @param init
 *            how its elements begin
 * @param split
 *            what of it each rank of a tensor-parallel group has
 * @param decays
 *            whether weight decay acts on it
 * @param isTrained
 *            whether a run changes it; one that is frozen has no gradient and no optimizer state
 */
public record ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays,
        boolean isTrained) {
    public ParameterSpec {
        if (split instanceof Split.Along(Axis axis, var pieces)) {
            int size = shape.dimensions().get(shape.dimensionOf(axis)).size();
            if (pieces.stream().mapToInt(Integer::intValue).sum() != size) {
                throw new IllegalArgumentException("the pieces of " + name + " must make the " + size + " indices of "
                        + axis + ", but found " + pieces);
            }
        }
    }

    /** A parameter that is trained. */
    public ParameterSpec(String name, NamedShape shape, Init init, Split split, boolean decays) {
        this(name, shape, init, split, decays, true);
    }

    /** How many numbers the whole tensor has. */
    public long elementCount() {
        return shape.elementCount();
    }

    /**
     * What the calling member of a group has.
     *
     * @throws IllegalArgumentException
     *             where a piece has fewer indices than the group has members
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
