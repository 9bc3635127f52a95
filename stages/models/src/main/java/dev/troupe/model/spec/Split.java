package dev.troupe.model.spec;

import java.util.List;

/** The division of a parameter among the ranks of a tensor-parallel group. */
public sealed interface Split {
    /** Every rank has all of it. */
    record Whole() implements Split {
    }

    /**
     * Every rank has all of it for the heads, or in an adapter the inputs or outputs, that it has: the gradient is the
     * sum of those that the ranks compute.
     */
    record WholeForOwnHeads() implements Split {
    }

    /**
     * Every rank has a share of each of some pieces that lie side by side along an axis: the queries, keys and values of its
     * heads.
     *
     * @param pieces how many indices each piece has, in their order; together the whole axis
     */
    record Along(Axis axis, List<Integer> pieces) implements Split {
        public Along {
            pieces = List.copyOf(pieces);
        }
    }
}
