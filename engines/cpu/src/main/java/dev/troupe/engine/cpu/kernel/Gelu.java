package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Bfloats;
import dev.troupe.engine.cpu.loop.Exponential;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.memory.CpuTensor;
import jdk.incubator.vector.FloatVector;

/**
 * The tanh form of GELU (Hendrycks and Gimpel 2016): x/2 (1 + tanh u) with u = r (x + c x^3), r = sqrt(2/pi), c =
 * 0.044715. This equals x s with s = 1 / (1 + e^-2u), since (1 + tanh u) / 2 = s.
 *
 * <p>Each element is read, computed in floats and written once. All operands have the same type.
 */
public final class Gelu {
    private static final double ROOT = Math.sqrt(2 / Math.PI);
    private static final double CUBIC = 0.044715;
    private static final float LINEAR = (float) (-2 * ROOT);
    private static final float CUBED = (float) (-2 * ROOT * CUBIC);
    private static final float SLOPE = (float) (2 * ROOT);
    private static final float SLOPE_SQUARED = (float) (6 * ROOT * CUBIC);

    private static final FloatVector ONES = Lanes.all(1);
    private static final FloatVector ALL_LINEAR = Lanes.all(LINEAR);
    private static final FloatVector ALL_CUBED = Lanes.all(CUBED);
    private static final FloatVector ALL_SLOPE = Lanes.all(SLOPE);
    private static final FloatVector ALL_SLOPE_SQUARED = Lanes.all(SLOPE_SQUARED);

    private Gelu() {
    }

    /** y = gelu(preActivation) for {@code count} elements, from index {@code first} on; y may be preActivation. */
    public static void forward(CpuTensor preActivation, CpuTensor y, long first, int count) {
        if (y.isNarrow()) {
            ofNumbers(preActivation.addressOf(first), y.addressOf(first), count);
        } else {
            ofFloats(preActivation.addressOf(first), y.addressOf(first), count);
        }
    }

    /** dx = dy gelu'(preActivation), where gelu' = s + x s (1 - s) 2u', and 2u' = 2r (1 + 3c x^2). */
    public static void backward(CpuTensor preActivation, CpuTensor dy, CpuTensor dx, long first, int count) {
        if (dx.isNarrow()) {
            slopesOfNumbers(preActivation.addressOf(first), dy.addressOf(first), dx.addressOf(first), count);
        } else {
            slopesOfFloats(preActivation.addressOf(first), dy.addressOf(first), dx.addressOf(first), count);
        }
    }

    private static void ofFloats(long x, long y, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(of(Lanes.load(x, i)), y, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(y, i, of(Lanes.get(x, i)));
        }
    }

    private static void ofNumbers(long x, long y, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Bfloats.store(of(Bfloats.load(x, i)), y, i);
        }
        for (int i = whole; i < count; i++) {
            Bfloats.set(y, i, of(Bfloats.get(x, i)));
        }
    }

    private static void slopesOfFloats(long x, long dy, long dx, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(slope(Lanes.load(x, i)).mul(Lanes.load(dy, i)), dx, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(dx, i, slope(Lanes.get(x, i)) * Lanes.get(dy, i));
        }
    }

    private static void slopesOfNumbers(long x, long dy, long dx, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Bfloats.store(slope(Bfloats.load(x, i)).mul(Bfloats.load(dy, i)), dx, i);
        }
        for (int i = whole; i < count; i++) {
            Bfloats.set(dx, i, slope(Bfloats.get(x, i)) * Bfloats.get(dy, i));
        }
    }

    private static FloatVector of(FloatVector x) {
        return x.div(divisor(x));
    }

    /** 1 / s. */
    private static FloatVector divisor(FloatVector x) {
        return Exponential.of(x.mul(x).fma(ALL_CUBED, ALL_LINEAR).mul(x)).add(ONES);
    }

    private static FloatVector slope(FloatVector x) {
        FloatVector s = ONES.div(divisor(x));
        FloatVector rise = x.mul(x).fma(ALL_SLOPE_SQUARED, ALL_SLOPE);
        return s.mul(x).mul(rise).fma(ONES.sub(s), s);
    }

    private static float of(float x) {
        return x / divisor(x);
    }

    private static float divisor(float x) {
        return Exponential.of(Math.fma(x * x, CUBED, LINEAR) * x) + 1;
    }

    private static float slope(float x) {
        float s = 1 / divisor(x);
        return Math.fma(s * x * Math.fma(x * x, SLOPE_SQUARED, SLOPE), 1 - s, s);
    }
}
