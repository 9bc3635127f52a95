package dev.troupe.engine.cpu.loop;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.random.Philox;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/** The random words of a dropout's places: {@link Philox} with a counter in each long lane of a vector. */
final class RandomWords {
    /** Words from one vector of counters; {@link #write} may write that many more than requested. */
    static final int OF_A_VECTOR = 4 * Lanes.LONGS.length();

    private static final int COUNTERS = Lanes.LONGS.length();
    private static final int WORD_BITS = 32;
    private static final int SITE_SHIFT = 16;
    private static final long LOW_WORD = 0xFFFFFFFFL;
    private static final LongVector ZERO_ONE_TWO = LongVector.zero(Lanes.LONGS).addIndex(1);
    private static final LongVector FIRST_FACTORS = LongVector.broadcast(Lanes.LONGS, Philox.FIRST_FACTOR);
    private static final LongVector SECOND_FACTORS = LongVector.broadcast(Lanes.LONGS, Philox.SECOND_FACTOR);
    // Each lane of the first or the second half twice, to interleave the pairs of words of two vectors.
    private static final VectorShuffle<Long> FIRST_HALF = VectorShuffle.fromOp(Lanes.LONGS, lane -> lane / 2);
    private static final VectorShuffle<Long> SECOND_HALF = VectorShuffle.fromOp(Lanes.LONGS,
            lane -> (COUNTERS + lane) / 2);
    private static final VectorMask<Long> ODD = VectorMask.fromLong(Lanes.LONGS, 0xAA);

    private RandomWords() {
    }

    /**
     * Writes the words of the places from {@code 4 block} on.
     *
     * @param blocks the number of fours of places, rounded up to whole vectors
     */
    static void write(Dropout dropout, long block, int blocks, long target) {
        long site = (long) dropout.site() << SITE_SHIFT;
        long microbatch = dropout.microbatch() & LOW_WORD;
        long step = dropout.step() & LOW_WORD;
        for (int i = 0; i < blocks; i += COUNTERS) {
            LongVector counters = LongVector.broadcast(Lanes.LONGS, block + i).add(ZERO_ONE_TWO);
            // A word is the lower half of a lane; the upper half is masked before it matters. The compiler emits the short
            // multiplication if both sides are masked in place.
            LongVector c0 = counters;
            LongVector c1 = counters.lanewise(VectorOperators.LSHR, WORD_BITS).or(site);
            LongVector c2 = LongVector.broadcast(Lanes.LONGS, microbatch);
            LongVector c3 = LongVector.broadcast(Lanes.LONGS, step);
            int k0 = (int) dropout.seed();
            int k1 = (int) (dropout.seed() >>> WORD_BITS);
            for (int round = 0; round < Philox.ROUNDS; round++) {
                LongVector first = c0.and(LOW_WORD).mul(FIRST_FACTORS.and(LOW_WORD));
                LongVector second = c2.and(LOW_WORD).mul(SECOND_FACTORS.and(LOW_WORD));
                c0 = second.lanewise(VectorOperators.LSHR, WORD_BITS).lanewise(VectorOperators.XOR, c1)
                        .lanewise(VectorOperators.XOR, k0);
                c1 = second;
                c2 = first.lanewise(VectorOperators.LSHR, WORD_BITS).lanewise(VectorOperators.XOR, c3)
                        .lanewise(VectorOperators.XOR, k1);
                c3 = first;
                k0 += Philox.FIRST_WEYL;
                k1 += Philox.SECOND_WEYL;
            }
            LongVector firstPairs = c0.and(LOW_WORD).or(c1.lanewise(VectorOperators.LSHL, WORD_BITS));
            LongVector lastPairs = c2.and(LOW_WORD).or(c3.lanewise(VectorOperators.LSHL, WORD_BITS));
            Lanes.storeLongs(firstPairs.rearrange(FIRST_HALF).blend(lastPairs.rearrange(FIRST_HALF), ODD), target,
                    2 * i);
            Lanes.storeLongs(firstPairs.rearrange(SECOND_HALF).blend(lastPairs.rearrange(SECOND_HALF), ODD), target,
                    2 * i + COUNTERS);
        }
    }
}
