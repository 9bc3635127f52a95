package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/** Exponential and logistic function of vectors. Lanes that are not numbers stay so. */
final class VectorMath {
    /** Below it the result, under 1.7e-38, is given as 0. */
    private static final float LEAST = -87;
    /** Above it the result is given as infinite. */
    private static final float MOST = 88.37f;
    private static final float LOG2_E = 1.442695041f;
    /** ln 2 in two parts, of which a whole number of times the first is exact. */
    private static final float LN2_HIGH = 0.693359375f;
    private static final float LN2_LOW = -2.12194440e-4f;
    /** 1.5 x 2^23: adding it rounds to a whole number, which then stands in the lowest bits. */
    private static final float ROUNDER = 12582912f;
    private static final int EXPONENT_BIT = 23;

    private VectorMath() {
    }

    /** e^x, within 1.5 units in the last place. */
    static FloatVector exp(FloatVector x) {
        // e^x = 2^n e^r with n whole and |r| <= ln(2) / 2.
        FloatVector rounded = x.fma(Lanes.all(LOG2_E), Lanes.all(ROUNDER));
        FloatVector n = rounded.sub(ROUNDER);
        FloatVector r = n.fma(Lanes.all(-LN2_LOW), n.fma(Lanes.all(-LN2_HIGH), x));
        // The Taylor polynomial to the seventh power: what it leaves out is below 2^-27.
        FloatVector p = r.fma(Lanes.all(1f / 5040), Lanes.all(1f / 720));
        p = p.fma(r, Lanes.all(1f / 120));
        p = p.fma(r, Lanes.all(1f / 24));
        p = p.fma(r, Lanes.all(1f / 6));
        p = p.fma(r, Lanes.all(0.5f));
        p = p.fma(r, Lanes.all(1));
        p = p.fma(r, Lanes.all(1));
        IntVector power = rounded.reinterpretAsInts().lanewise(VectorOperators.LSHL, EXPONENT_BIT);
        FloatVector result = p.reinterpretAsInts().add(power).reinterpretAsFloats();
        return result.blend(0, x.lt(LEAST)).blend(Float.POSITIVE_INFINITY, x.compare(VectorOperators.GT, MOST));
    }

    /** 1 / (1 + e^-x). */
    static FloatVector logistic(FloatVector x) {
        return Lanes.all(1).div(exp(x.neg()).add(1));
    }
}
