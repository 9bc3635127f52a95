package dev.troupe.batch;

/**
 * The possible lengths of the sequences of a microbatch: multiples of a unit, and the longest. They are few, since an engine
 * may prepare kernels for each. All but the longest give a number of rows that ranks can divide evenly.
 *
 * @param longest tokens of a sequence of the run, S
 * @param unit tokens; every shorter length is a multiple of it
 */
public record SequenceLengths(int longest, int unit) {
    /** Shorter units would cost more in kernels of odd shapes than they save. */
    private static final int LEAST_UNIT = 16;
    /** With at most 32 lengths, less than 1/32 of the longest length is padding. */
    private static final int MOST = 32;

    /**
     * Returns the lengths of a run.
     *
     * @param parts ranks that divide the rows of a microbatch evenly; the unit is a multiple of it
     */
    public static SequenceLengths of(int longest, int parts) {
        long common = LEAST_UNIT;
        while (common % parts != 0) {
            common += LEAST_UNIT;
        }
        long least = Math.ceilDiv(longest, MOST);
        return new SequenceLengths(longest, (int) Math.min(Integer.MAX_VALUE, Math.ceilDiv(least, common) * common));
    }

    /** Returns the shortest length that holds a number of tokens, at most the longest. */
    public int holding(int tokens) {
        return (int) Math.min(longest, Math.ceilDiv((long) tokens, unit) * unit);
    }
}
