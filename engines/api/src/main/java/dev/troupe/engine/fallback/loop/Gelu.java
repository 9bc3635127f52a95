package dev.troupe.engine.fallback.loop;

/** The tanh form of GELU: x/2 (1 + tanh(r (x + c x^3))) with r = sqrt(2/pi), c = 0.044715. */
public final class Gelu {
    private static final double ROOT = Math.sqrt(2 / Math.PI);
    private static final double CUBIC = 0.044715;

    private Gelu() {
    }

    public static void forward(double[] x, double[] y) {
        for (int i = 0; i < x.length; i++) {
            y[i] = 0.5 * x[i] * (1 + StrictMath.tanh(ROOT * (x[i] + CUBIC * x[i] * x[i] * x[i])));
        }
    }

    public static void backward(double[] x, double[] dy, double[] dx) {
        for (int i = 0; i < x.length; i++) {
            double square = x[i] * x[i];
            double tanh = StrictMath.tanh(ROOT * (x[i] + CUBIC * square * x[i]));
            double slope = 0.5 * (1 + tanh) + 0.5 * x[i] * (1 - tanh * tanh) * ROOT * (1 + 3 * CUBIC * square);
            dx[i] = dy[i] * slope;
        }
    }
}
