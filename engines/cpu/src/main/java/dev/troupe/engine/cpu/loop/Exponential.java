package dev.troupe.engine.cpu.loop;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The exponential, from memory to memory. NaN stays NaN.
 *
 * <p>It is a separate loop, not a function of a vector for other loops, since the compiler decides in each process whether
 * it inlines such a call; if it does not, every vector becomes an object. For the same reason the floats after the last
 * whole vector are computed one by one, with the same bits.
 */
final class Exponential {
    /** Below it the result, under 1.7e-38, is 0. */
    private static final float LEAST = -87;
    private static final float MOST = 88.37f;
    private static final float LOG2_E = 1.442695041f;
    /** Minus ln 2 in two parts. */
    private static final float LN2_HIGH = -0.693359375f;
    private static final float LN2_LOW = 2.12194440e-4f;
    /** 1.5 x 2^23: adding it rounds to a whole number in the lowest bits. */
    private static final float ROUNDER = 12582912f;
    private static final int EXPONENT_BIT = 23;
    // The Taylor polynomial to the seventh power: for |r| <= ln(2) / 2 its error is below 2^-27.
    private static final float C7 = 1f / 5040;
    private static final float C6 = 1f / 720;
    private static final float C5 = 1f / 120;
    private static final float C4 = 1f / 24;
    private static final float C3 = 1f / 6;
    private static final float C2 = 1f / 2;

    private static final FloatVector ALL_LEAST = Lanes.all(LEAST);
    private static final FloatVector ALL_MOST = Lanes.all(MOST);
    private static final FloatVector ALL_LOG2_E = Lanes.all(LOG2_E);
    private static final FloatVector ALL_LN2_HIGH = Lanes.all(LN2_HIGH);
    private static final FloatVector ALL_LN2_LOW = Lanes.all(LN2_LOW);
    private static final FloatVector ALL_ROUNDER = Lanes.all(ROUNDER);
    private static final FloatVector ALL_C7 = Lanes.all(C7);
    private static final FloatVector ALL_C6 = Lanes.all(C6);
    private static final FloatVector ALL_C5 = Lanes.all(C5);
    private static final FloatVector ALL_C4 = Lanes.all(C4);
    private static final FloatVector ALL_C3 = Lanes.all(C3);
    private static final FloatVector ALL_C2 = Lanes.all(C2);
    private static final FloatVector ONES = Lanes.all(1);
    private static final FloatVector ZEROS = Lanes.all(0);
    private static final FloatVector INFINITE = Lanes.all(Float.POSITIVE_INFINITY);

    private Exponential() {
    }

    /**
     * y = e^(x - shift), within 1.5 units in the last place for the rounded difference; y may be x.
     *
     * @param lanes memory for one vector, used by the calling thread alone
     * @return the sum of y
     */
    static float ofRow(long x, float shift, long y, int count, long lanes) {
        FloatVector shifts = Lanes.all(shift);
        // Not the constant: a variable of a loop may not begin as an object.
        FloatVector sums = Lanes.zeros();
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector exponent = Lanes.load(x, i).sub(shifts);
            // e^x = 2^n e^r with n whole and |r| <= ln(2) / 2.
            FloatVector rounded = exponent.fma(ALL_LOG2_E, ALL_ROUNDER);
            FloatVector n = rounded.sub(ALL_ROUNDER);
            FloatVector r = n.fma(ALL_LN2_LOW, n.fma(ALL_LN2_HIGH, exponent));
            FloatVector p = r.fma(ALL_C7, ALL_C6).fma(r, ALL_C5).fma(r, ALL_C4).fma(r, ALL_C3).fma(r, ALL_C2)
                    .fma(r, ONES).fma(r, ONES);
            IntVector power = rounded.reinterpretAsInts().lanewise(VectorOperators.LSHL, EXPONENT_BIT);
            FloatVector result = p.reinterpretAsInts().add(power).reinterpretAsFloats()
                    .blend(ZEROS, exponent.compare(VectorOperators.LT, ALL_LEAST))
                    .blend(INFINITE, exponent.compare(VectorOperators.GT, ALL_MOST));
            sums = sums.add(result);
            Lanes.store(result, y, i);
        }
        Lanes.store(sums, lanes, 0);
        float sum = Lanes.sum(lanes);
        for (int i = whole; i < count; i++) {
            float result = of(Lanes.get(x, i) - shift);
            Lanes.set(y, i, result);
            sum += result;
        }
        return sum;
    }

    /** e^x of one float, with the bits of {@link #ofRow}. */
    static float of(float x) {
        if (x < LEAST) {
            return 0;
        }
        if (x > MOST) {
            return Float.POSITIVE_INFINITY;
        }
        float rounded = Math.fma(x, LOG2_E, ROUNDER);
        float n = rounded - ROUNDER;
        float r = Math.fma(n, LN2_LOW, Math.fma(n, LN2_HIGH, x));
        float p = Math.fma(r, C7, C6);
        p = Math.fma(p, r, C5);
        p = Math.fma(p, r, C4);
        p = Math.fma(p, r, C3);
        p = Math.fma(p, r, C2);
        p = Math.fma(p, r, 1);
        p = Math.fma(p, r, 1);
        int power = Float.floatToRawIntBits(rounded) << EXPONENT_BIT;
        return Float.intBitsToFloat(Float.floatToRawIntBits(p) + power);
    }
}
