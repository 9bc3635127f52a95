package dev.troupe.engine.fallback.loop;

/** The gated unit y = silu(gate) up with silu(x) = x s(x), s(x) = 1 / (1 + e^-x) (Shazeer 2020). */
public final class SwiGlu {
    private SwiGlu() {
    }

    public static void forward(double[] gate, double[] up, double[] y) {
        for (int i = 0; i < y.length; i++) {
            y[i] = gate[i] * sigmoid(gate[i]) * up[i];
        }
    }

    /** dGate may be gate, and dUp may be up or dy. */
    public static void backward(double[] gate, double[] up, double[] dy, double[] dGate, double[] dUp) {
        for (int i = 0; i < dy.length; i++) {
            double s = sigmoid(gate[i]);
            double silu = gate[i] * s;
            double gateGradient = dy[i] * up[i] * (s + silu * (1 - s));
            dUp[i] = dy[i] * silu;
            dGate[i] = gateGradient;
        }
    }

    private static double sigmoid(double x) {
        return 1 / (1 + StrictMath.exp(-x));
    }
}
