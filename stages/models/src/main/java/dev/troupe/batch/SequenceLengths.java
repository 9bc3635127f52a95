package dev.troupe.batch;

/**
 * The possible lengths of the sequences of a microbatch: multiples of a unit, and the longest. They are few, since an engine
 * may have to prepare its kernels for each, and all but the longest are a number of rows that ranks can share out.
 *
 * @param longest tokens of a sequence of the run, S
 * @param unit tokens; every shorter length is a multiple of it
 */
public record SequenceLengths(int longest, int unit) {
    /** Shorter units would cost more in kernels of odd shapes than they save. */
    private static final int LEAST_UNIT = 16;
    /** With this number of lengths, less than a token in 32 of the longest is padding that is computed. */
    private static final int MOST = 32;

    /**
     * Returns the lengths of a run.
     *
     * @param parts ranks that share the rows of a microbatch evenly: a unit is a multiple of it
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
