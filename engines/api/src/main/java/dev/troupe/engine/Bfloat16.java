package dev.troupe.engine;

/**
 * Numbers of {@link DataType#BFLOAT16}: the upper 16 bits of a float32, so its range with 8 significant bits (Kalamkar et
 * al. 2019, "A Study of BFLOAT16 for Deep Learning Training"). Any thread.
 */
public final class Bfloat16 {
    /** The bits of a float32 that a bfloat16 lacks. */
    private static final int SHIFT = 16;
    private static final int ROUNDING_BIAS = 0x7fff;
    private static final short NOT_A_NUMBER = 0x7fc0;
    private static final int STORED_SIGNIFICANT_BITS = 7;

    private Bfloat16() {
    }

    /** The number of these bits, exactly. */
    public static float toFloat(short bits) {
        return Float.intBitsToFloat(bits << SHIFT);
    }

    /** The bits of the nearest number, ties to even; beyond the range infinity, and NaN for NaN. */
    public static short of(float number) {
        if (Float.isNaN(number)) {
            return NOT_A_NUMBER;
        }
        int bits = Float.floatToRawIntBits(number);
        return (short) (bits + ROUNDING_BIAS + (bits >>> SHIFT & 1) >>> SHIFT);
    }

    /** The nearest number of the type to a double, ties to even: rounded once, not by way of a float. */
    public static double round(double number) {
        if (!Double.isFinite(number)) {
            return number;
        }
        int exponent = Math.max(Math.getExponent(number), Float.MIN_EXPONENT);
        // Multiplying by powers of two is exact here, so that only rint rounds.
        double rounded = Math.scalb(Math.rint(Math.scalb(number, STORED_SIGNIFICANT_BITS - exponent)),
                exponent - STORED_SIGNIFICANT_BITS);
        return Math.abs(rounded) > Float.MAX_VALUE ? Math.copySign(Double.POSITIVE_INFINITY, number) : rounded;
    }
}
