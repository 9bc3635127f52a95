package dev.troupe.batch;

/**
 * Permutations of 0 .. n-1, one for each key, without memory: a Feistel network of the smallest even number of bits that
 * holds n, repeated until the result is below n (cycle walking, Black and Rogaway 2002). Any thread; allocates nothing.
 */
final class Permutation {
    /** Four rounds suffice for large sets (Luby and Rackoff 1988); small sets have few bits to mix. */
    private static final int ROUNDS = 8;
    private static final long ROUND_STRIDE = 0x9E3779B97F4A7C15L;

    private final long size;
    private final int halfBits;
    private final long halfMask;

    /**
     * @param size n, at least 1
     */
    Permutation(long size) {
        if (size < 1) {
            throw new IllegalArgumentException("a permutation must have at least 1 element, but found " + size);
        }
        int bits = Long.SIZE - Long.numberOfLeadingZeros(size - 1);
        this.size = size;
        this.halfBits = Math.max(1, (bits + 1) / 2); // rounded up: at most 4 n values, so 4 tries on average
        this.halfMask = (1L << halfBits) - 1;
    }

    /** Returns the number in place {@code index} = 0 .. n-1 of the permutation of a key. */
    long at(long key, long index) {
        long value = index;
        do {
            value = shuffled(key, value);
        } while (value >= size);
        return value;
    }

    private long shuffled(long key, long value) {
        long left = value >>> halfBits;
        long right = value & halfMask;
        for (int round = 1; round <= ROUNDS; round++) {
            long mixed = left ^ Mixing.mix(key + round * ROUND_STRIDE + Mixing.mix(right)) & halfMask;
            left = right;
            right = mixed;
        }
        return left << halfBits | right;
    }
}
