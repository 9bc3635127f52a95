package dev.troupe.rank.bits;

/**
 * Digests of a rank in a step, in consecutive places of {@link BitLayout.Rank}.
 *
 * @param first the place of the first digest
 * @param values the digests, {@link #NONE} if nothing was recorded
 */
public record RankBits(int rank, int first, long[] values) {
    public static final long NONE = 0;
}
