package dev.troupe.tokenizer.huggingface;

import java.util.Arrays;

/** The rank of each pair of ids that merges. Filled by one thread, then read by any. */
final class PairTable {
    static final int NONE = -1;

    private final long[] pairs;
    private final int[] ranks;

    PairTable(int count) {
        int size = Integer.highestOneBit(Math.max(1, count)) * 4;
        pairs = new long[size];
        ranks = new int[size];
        Arrays.fill(ranks, NONE);
    }

    /** Gives a pair a rank, in place of an earlier one. */
    void put(int left, int right, int rank) {
        int slot = slot(pair(left, right));
        pairs[slot] = pair(left, right);
        ranks[slot] = rank;
    }

    int rank(int left, int right) {
        return ranks[slot(pair(left, right))];
    }

    private static long pair(int left, int right) {
        return (long) left << 32 | right;
    }

    private int slot(long pair) {
        long mixed = pair * 0x9E3779B97F4A7C15L;
        int slot = (int) (mixed >>> 32) & pairs.length - 1;
        while (ranks[slot] != NONE && pairs[slot] != pair) {
            slot = slot + 1 & pairs.length - 1;
        }
        return slot;
    }
}
