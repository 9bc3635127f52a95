package dev.troupe.collective;

/** How the elements of members become one. The code goes on the wire, so it never changes. */
public enum Reduction {
    /** Their sum, in the order of members. */
    SUM("sum", 1),
    /** The largest; not a number where one of them is not. */
    MAXIMUM("maximum", 2);

    private final String word;
    private final int code;

    Reduction(String word, int code) {
        this.word = word;
        this.code = code;
    }

    /** The reduction as people write it. */
    public String word() {
        return word;
    }

    /** The number that stands for it in a frame. */
    public int code() {
        return code;
    }
}
