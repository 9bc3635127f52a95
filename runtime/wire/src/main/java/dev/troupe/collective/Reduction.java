package dev.troupe.collective;

/** The reductions of the members' elements to one. The code is sent, so it never changes. */
public enum Reduction {
    /** The sum, in the order of members. */
    SUM("sum", 1),
    /** The largest element; NaN if one is NaN. */
    MAXIMUM("maximum", 2),
    /**
     * The sum of float32, in the order of members, after each member has rounded its values to bfloat16, which halves the
     * traffic.
     */
    SUM_OF_ROUNDED("sum of bfloat16", 3),
    /** The sum by a balanced binary tree: of neighbouring members first, then of neighbouring pairs, and so on. */
    TREE_SUM("sum in a tree", 4);

    private final String word;
    private final int code;

    Reduction(String word, int code) {
        this.word = word;
        this.code = code;
    }

    public String word() {
        return word;
    }

    public int code() {
        return code;
    }
}
