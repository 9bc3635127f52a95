package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;
import jdk.incubator.vector.FloatVector;

/**
 * The tanh form of GELU (Hendrycks and Gimpel 2016): x/2 (1 + tanh u) with u = r (x + c x^3), r = sqrt(2/pi), c =
 * 0.044715. This equals x s with s = 1 / (1 + e^-2u), since (1 + tanh u) / 2 = s.
 *
 * <p>Computed in three loops over floats that stay in the cache: the terms before the exponential, the exponential, the
 * terms after it.
 */
public final class Gelu {
    private static final int BLOCK = 1024;
    public static final long SCRATCH_BYTES = Lanes.ALIGNMENT + 4L * 3 * BLOCK;

    private static final double ROOT = Math.sqrt(2 / Math.PI);
    private static final double CUBIC = 0.044715;
    private static final float LINEAR = (float) (-2 * ROOT);
    private static final float CUBED = (float) (-2 * ROOT * CUBIC);
    private static final float SLOPE = (float) (2 * ROOT);
    private static final float SLOPE_SQUARED = (float) (6 * ROOT * CUBIC);

    private Gelu() {
    }

    /** y = gelu(preActivation) for {@code count} elements, from index {@code first} on; y may be preActivation. */
    public static void forward(CpuTensor preActivation, CpuTensor y, long first, int count, long scratch) {
        long exponentials = scratch + Lanes.ALIGNMENT;
        long widened = exponentials + 4L * BLOCK;
        for (int from = 0; from < count; from += BLOCK) {
            int floats = Math.min(BLOCK, count - from);
            long x = preActivation.read(first + from, floats, widened);
            long to = y.target(first + from, widened);
            exponents(x, exponentials, floats);
            RowLoop.exponentials(exponentials, 0, exponentials, floats, scratch);
            shares(x, exponentials, to, floats);
            y.written(first + from, floats, to);
        }
    }

    /** dx = dy gelu'(preActivation), where gelu' = s + x s (1 - s) 2u', and 2u' = 2r (1 + 3c x^2). */
    public static void backward(CpuTensor preActivation, CpuTensor dy, CpuTensor dx, long first, int count,
            long scratch) {
        long exponentials = scratch + Lanes.ALIGNMENT;
        long widened = exponentials + 4L * BLOCK;
        long widenedGradient = widened + 4L * BLOCK;
        for (int from = 0; from < count; from += BLOCK) {
            int floats = Math.min(BLOCK, count - from);
            long x = preActivation.read(first + from, floats, widened);
            long to = dx.target(first + from, widened);
            exponents(x, exponentials, floats);
            RowLoop.exponentials(exponentials, 0, exponentials, floats, scratch);
            slopes(x, exponentials, dy.read(first + from, floats, widenedGradient), to, floats);
            dx.written(first + from, floats, to);
        }
    }

    /** y = -2u. */
    private static void exponents(long x, long y, int count) {
        FloatVector linear = Lanes.all(LINEAR);
        FloatVector cubed = Lanes.all(CUBED);
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector input = Lanes.load(x, i);
            Lanes.store(input.mul(input).fma(cubed, linear).mul(input), y, i);
        }
        for (int i = whole; i < count; i++) {
            float input = Lanes.get(x, i);
            Lanes.set(y, i, Math.fma(input * input, CUBED, LINEAR) * input);
        }
    }

    /** y = x s. */
    private static void shares(long x, long exponentials, long y, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(x, i).div(Lanes.load(exponentials, i).add(1)), y, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(y, i, Lanes.get(x, i) / (Lanes.get(exponentials, i) + 1));
        }
    }

    private static void slopes(long x, long exponentials, long dy, long dx, int count) {
        FloatVector ones = Lanes.all(1);
        FloatVector linear = Lanes.all(SLOPE);
        FloatVector squared = Lanes.all(SLOPE_SQUARED);
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector input = Lanes.load(x, i);
            FloatVector s = ones.div(Lanes.load(exponentials, i).add(ones));
            FloatVector rise = input.mul(input).fma(squared, linear);
            FloatVector slope = s.mul(input).mul(rise).fma(ones.sub(s), s);
            Lanes.store(slope.mul(Lanes.load(dy, i)), dx, i);
        }
        for (int i = whole; i < count; i++) {
            float input = Lanes.get(x, i);
            float s = 1 / (Lanes.get(exponentials, i) + 1);
            float slope = Math.fma(s * input * Math.fma(input * input, SLOPE_SQUARED, SLOPE), 1 - s, s);
            Lanes.set(dx, i, slope * Lanes.get(dy, i));
        }
    }
}
