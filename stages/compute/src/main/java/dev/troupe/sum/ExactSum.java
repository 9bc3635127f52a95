package dev.troupe.sum;

/**
 * An exact sum of squares, rounded once at its end. So it does not depend on the order of the numbers, nor on the ranks that
 * have them (the long accumulator of Kulisch, Computer Arithmetic and Validity, 2013). Each square is rounded to float64
 * before; the square of a float32 is exact there.
 *
 * <p>The sum is a number with {@link #DIGITS} digits of 32 bits, from the smallest float64 on. Digits of several sums may be
 * added one by one, as float64, without a rounding.
 *
 * <p>Thread rule: one thread.
 */
public final class ExactSum {
    /** The digits of a sum, from 2^-1074 to beyond the largest float64; the last one is for squares that are not finite. */
    public static final int DIGITS = 68;
    private static final int DIGIT_BITS = Integer.SIZE;
    private static final long DIGIT_MASK = 0xFFFF_FFFFL;
    /** The additions after which a digit might overflow. */
    private static final int MOST_ADDITIONS = 1 << 30;
    private static final int MANTISSA_BITS = 52;
    private static final int DROPPED_BITS = Long.SIZE - MANTISSA_BITS - 3;
    private static final int LEAST_EXPONENT = -1074;
    private static final int NOT_FINITE = DIGITS - 1;

    private final long[] digits = new long[DIGITS];
    private double notFinite;
    private int additions;

    /** Adds the squares of the first numbers of an array. */
    public void addSquares(double[] numbers, int count) {
        for (int i = 0; i < count; i++) {
            add(numbers[i] * numbers[i]);
        }
    }

    private void add(double square) {
        long bits = Double.doubleToRawLongBits(square);
        int exponent = (int) (bits >>> MANTISSA_BITS);
        long mantissa = bits & ((1L << MANTISSA_BITS) - 1);
        if (exponent == 0x7FF || bits < 0) { // a NaN may have a sign
            notFinite += square;
            return;
        }
        // A number below the least normal one has the exponent of that, but no leading 1.
        int place = Math.max(exponent, 1) - 1;
        long whole = exponent == 0 ? mantissa : mantissa | 1L << MANTISSA_BITS;
        int first = place / DIGIT_BITS;
        int shift = place % DIGIT_BITS;
        digits[first] += whole << shift & DIGIT_MASK;
        digits[first + 1] += whole >>> DIGIT_BITS - shift & DIGIT_MASK;
        digits[first + 2] += whole >>> 1 >>> 2 * DIGIT_BITS - 1 - shift;
        if (++additions == MOST_ADDITIONS) {
            carry(digits);
            additions = 0;
        }
    }

    private static void carry(long[] digits) {
        for (int i = 0; i < NOT_FINITE - 1; i++) {
            digits[i + 1] += digits[i] >>> DIGIT_BITS;
            digits[i] &= DIGIT_MASK;
        }
    }

    /** Writes the digits of this sum, which up to 2^20 ranks may add one by one. */
    public void write(double[] target, int from) {
        carry(digits);
        for (int i = 0; i < NOT_FINITE; i++) {
            target[from + i] = digits[i];
        }
        target[from + NOT_FINITE] = notFinite;
    }

    /** Returns the sum with these digits, rounded to the nearest float64; not finite if one of its squares is not. */
    public static double value(double[] source, int from) {
        if (source[from + NOT_FINITE] != 0) {
            return source[from + NOT_FINITE];
        }
        long[] digits = new long[DIGITS];
        for (int i = 0; i < NOT_FINITE; i++) {
            digits[i] = (long) source[from + i];
        }
        carry(digits);
        int top = NOT_FINITE - 1;
        while (top > 0 && digits[top] == 0) {
            top--;
        }
        // The three leading digits have more bits than a float64; the digits below only decide a tie.
        long high = digits[top] << DIGIT_BITS | (top > 0 ? digits[top - 1] : 0);
        if (high == 0) {
            return 0;
        }
        int room = Long.numberOfLeadingZeros(high); // below 32, unless the least digit is the only one
        long next = top > 1 ? digits[top - 2] : 0;
        long aligned = high << room | next << room >>> DIGIT_BITS;
        boolean isMore = (next << room & DIGIT_MASK) != 0;
        for (int i = top - 3; i >= 0; i--) {
            isMore |= digits[i] != 0;
        }
        // Two bits more than the mantissa of a float64 has: one for the rounding, and one for all bits below.
        long mantissa = aligned >>> DROPPED_BITS | (isMore || (aligned & (1L << DROPPED_BITS) - 1) != 0 ? 1 : 0);
        return Math.scalb((double) mantissa, LEAST_EXPONENT + (top - 1) * DIGIT_BITS - room + DROPPED_BITS);
    }
}
