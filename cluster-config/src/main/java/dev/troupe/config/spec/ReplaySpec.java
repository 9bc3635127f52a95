package dev.troupe.config.spec;

/**
 * How forwards are computed again where {@code training.recompute} is {@code full}.
 *
 * @param every blocks from one kept input to the next, at least 1
 * @param aheadBlocks the most blocks of a stage that are computed again before their gradient arrives;
 *     {@link Integer#MAX_VALUE} for all of them
 * @param aheadBytes the memory that a rank may take more for them
 */
public record ReplaySpec(int every, int aheadBlocks, long aheadBytes) {
    /** Each block right before its backward. */
    public static final ReplaySpec NONE = new ReplaySpec(1, 0, Long.MAX_VALUE);

    /** The value of {@code training.recompute-ahead}. */
    public String ahead() {
        if (aheadBytes < Long.MAX_VALUE) {
            return aheadBytes + "B";
        }
        return switch (aheadBlocks) {
            case 0 -> "none";
            case Integer.MAX_VALUE -> "all";
            default -> Integer.toString(aheadBlocks);
        };
    }
}
