package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;

/**
 * The tanh form of GELU (Hendrycks and Gimpel 2016): x/2 (1 + tanh u) with u = r (x + c x^3), r = sqrt(2/pi), c =
 * 0.044715; which is x s with s = 1 / (1 + e^-2u), since (1 + tanh u) / 2 = s.
 */
final class Gelu {
    private static final double ROOT = Math.sqrt(2 / Math.PI);
    private static final double CUBIC = 0.044715;
    private static final float TWICE_ROOT = (float) (2 * ROOT);
    private static final float TWICE_ROOT_CUBIC = (float) (2 * ROOT * CUBIC);
    private static final float SLOPE_CUBIC = (float) (6 * ROOT * CUBIC);

    private Gelu() {
    }

    /** preActivation += bias; y = gelu(preActivation): one row, or some columns of it. */
    static void forward(long bias, long preActivation, long y, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector x = Lanes.load(preActivation, i).add(Lanes.load(bias, i));
            Lanes.store(x, preActivation, i);
            Lanes.store(x.mul(share(x)), y, i);
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            FloatVector x = Lanes.load(preActivation, whole, rest).add(Lanes.load(bias, whole, rest));
            Lanes.store(x, preActivation, whole, rest);
            Lanes.store(x.mul(share(x)), y, whole, rest);
        }
    }

    /** dx = dy gelu'(preActivation). */
    static void backward(long preActivation, long dy, long dx, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(slope(Lanes.load(preActivation, i)).mul(Lanes.load(dy, i)), dx, i);
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            Lanes.store(slope(Lanes.load(preActivation, whole, rest)).mul(Lanes.load(dy, whole, rest)), dx, whole,
                    rest);
        }
    }

    /** s. */
    private static FloatVector share(FloatVector x) {
        FloatVector twiceU = x.mul(x).fma(Lanes.all(TWICE_ROOT_CUBIC), Lanes.all(TWICE_ROOT)).mul(x);
        return VectorMath.logistic(twiceU);
    }

    /** s + x s (1 - s) 2u', with 2u' = 2r (1 + 3c x^2). */
    private static FloatVector slope(FloatVector x) {
        FloatVector s = share(x);
        FloatVector rise = x.mul(x).fma(Lanes.all(SLOPE_CUBIC), Lanes.all(TWICE_ROOT));
        return s.mul(x).mul(rise).fma(Lanes.all(1).sub(s), s);
    }
}
