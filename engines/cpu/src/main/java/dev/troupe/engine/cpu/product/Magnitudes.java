package dev.troupe.engine.cpu.product;

import dev.troupe.engine.cpu.library.Tiles;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The range of the magnitudes in an operand of products, as one number: the bits of the smallest float that is not zero in
 * the upper half, of the largest in the lower half.
 */
final class Magnitudes {
    private static final int LANES = 16;
    private static final int EXPONENT_SHIFT = 23;
    private static final int EXPONENT_BIAS = 127;
    /**
     * The least exponent of a product of two numbers. The last digit of a float is 23 binary places further, and the units
     * take magnitudes below 2^-126 for zero.
     */
    private static final int LEAST_EXPONENT = -96;
    private static final MemorySegment MEMORY = memory();

    private Magnitudes() {
    }

    /** The range of panels with ranges at an address. */
    static long of(long ranges, int panels) {
        int least = Integer.MAX_VALUE;
        int most = 0;
        for (int panel = 0; panel < panels; panel++) {
            long here = ranges + panel * Tiles.RANGE_BYTES;
            for (int lane = 0; lane < LANES; lane++) {
                least = Math.min(least, bits(here, lane) & Integer.MAX_VALUE); // less one, so that of zero is -1
                most = Math.max(most, bits(here, LANES + lane));
            }
        }
        return (long) (least == Integer.MAX_VALUE ? least : least + 1) << Integer.SIZE | most;
    }

    private static int bits(long range, int lane) {
        return MEMORY.get(ValueLayout.JAVA_INT, range + (long) Integer.BYTES * lane);
    }

    /** Whether the units lose no digits of products and sums of k numbers with such magnitudes. */
    static boolean fit(long left, long right, int k) {
        int highest = exponent(most(left)) + exponent(most(right));
        int lowest = exponent(least(left)) + exponent(least(right));
        // Rounding doubles a number at most, and a sum is k times the largest product at most.
        int growth = 2 + Integer.SIZE - Integer.numberOfLeadingZeros(k);
        return Math.max(exponent(most(left)), exponent(most(right))) < EXPONENT_BIAS
                && highest + growth <= EXPONENT_BIAS && lowest >= LEAST_EXPONENT
                && Math.min(exponent(least(left)), exponent(least(right))) >= LEAST_EXPONENT;
    }

    private static int least(long range) {
        return (int) (range >>> Integer.SIZE);
    }

    private static int most(long range) {
        return (int) range;
    }

    private static int exponent(int magnitude) {
        return (magnitude >>> EXPONENT_SHIFT) - EXPONENT_BIAS;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment memory() {
        return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }
}
