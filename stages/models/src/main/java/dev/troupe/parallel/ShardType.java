package dev.troupe.parallel;

/**
 * The type of a tensor on one axis of ranks, of which each has a part or a copy (Shazeer et al. 2018, Mesh-TensorFlow; the
 * distinction of replicated and invariant values as in JAX's and torchtitan's types). The type of a
 * tensor determines the type of its gradient.
 */
public sealed interface ShardType {
    /** The dimension of the rows of the residual stream, batch times sequence. */
    Cut ROWS = new Cut("rows");
    Replicated REPLICATED = new Replicated();
    Invariant INVARIANT = new Invariant();
    Partial PARTIAL = new Partial();

    /** Every rank has the value, and uses it in its own way: the gradient is the sum over the ranks. */
    record Replicated() implements ShardType {
        @Override
        public ShardType dual() {
            return PARTIAL;
        }

        @Override
        public String text() {
            return "replicated";
        }
    }

    /** Every rank has the value, and does the same with it: each has the whole gradient too. */
    record Invariant() implements ShardType {
        @Override
        public ShardType dual() {
            return this;
        }

        @Override
        public String text() {
            return "invariant";
        }
    }

    /** Each rank has a value of its own, and so a gradient of its own. */
    record Varying() implements ShardType {
        @Override
        public ShardType dual() {
            return this;
        }

        @Override
        public String text() {
            return "varying";
        }
    }

    /** Each rank has an addend: the value is the sum. */
    record Partial() implements ShardType {
        @Override
        public ShardType dual() {
            return REPLICATED;
        }

        @Override
        public String text() {
            return "partial";
        }
    }

    /**
     * Each rank has some indices of a dimension.
     *
     * @param dimension its name in a plan, such as {@code key-value}
     */
    record Cut(String dimension) implements ShardType {
        @Override
        public ShardType dual() {
            return this;
        }

        @Override
        public String text() {
            return "cut " + dimension;
        }
    }

    /** Returns the type of the gradient. */
    ShardType dual();

    /** Returns the type in the words of a plan. */
    String text();
}
