package dev.troupe.model.spec;

import java.util.List;

/** The division of a parameter among the ranks of a tensor-parallel group. */
public sealed interface Split {
    /** Every rank has all of it. */
    record Whole() implements Split {
    }

    /**
     * Every rank has all of it, for its own heads, or in an adapter for its own inputs or outputs, or in a router for its
     * own share of each expert; the gradient is the sum over the ranks.
     */
    record WholeForOwnHeads() implements Split {
    }

    /**
     * Every rank has a share of each of several consecutive pieces along an axis, such as the queries, keys and values of
     * its heads.
     *
     * @param pieces the number of indices of each piece, in their order; together the whole axis
     */
    record Along(Axis axis, List<Integer> pieces) implements Split {
        public Along {
            pieces = List.copyOf(pieces);
        }
    }
}
