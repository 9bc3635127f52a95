package dev.troupe.collective;

/** The reductions of the elements of members to one. The code is sent, so it never changes. */
public enum Reduction {
    /** Their sum, in the order of members. */
    SUM("sum", 1),
    /** The largest; NaN if one of them is NaN. */
    MAXIMUM("maximum", 2),
    /** The sum in the order of members of float32, each of which its member rounds to bfloat16 first, which halves it. */
    SUM_OF_ROUNDED("sum of bfloat16", 3);

    private final String word;
    private final int code;

    Reduction(String word, int code) {
        this.word = word;
        this.code = code;
    }

    /** The reduction as messages print it. */
    public String word() {
        return word;
    }

    public int code() {
        return code;
    }
}
