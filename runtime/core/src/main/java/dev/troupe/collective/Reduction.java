package dev.troupe.collective;

/** The reductions of the elements of members to one. The code goes on the wire, so it never changes. */
public enum Reduction {
    /** Their sum, in the order of members. */
    SUM("sum", 1),
    /** The largest; NaN where one of them is NaN. */
    MAXIMUM("maximum", 2);

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

    /** The code of the reduction in a frame. */
    public int code() {
        return code;
    }
}
