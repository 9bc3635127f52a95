package dev.troupe.engine.fallback.loop;

/**
 * The norm by the root mean square of C neighbours (Zhang and Sennrich 2019): y = gamma x r with r = 1 / sqrt(mean(x x) +
 * epsilon). Letters: N such norms, C size.
 */
public final class RmsNorm {
    private RmsNorm() {
    }

    /** x and y [N x C], gamma [C], reciprocal [N]. */
    public static void forward(double[] x, double[] gamma, double epsilon, double[] y, double[] reciprocal) {
        int c = gamma.length;
        for (int row = 0; row < reciprocal.length; row++) {
            int at = row * c;
            double squares = 0;
            for (int j = 0; j < c; j++) {
                squares += x[at + j] * x[at + j];
            }
            double r = 1 / Math.sqrt(squares / c + epsilon);
            reciprocal[row] = r;
            for (int j = 0; j < c; j++) {
                y[at + j] = gamma[j] * x[at + j] * r;
            }
        }
    }

    /** dx (+)= r (g - x r mean(g x r)) with g = dy gamma; dx may be dy. */
    public static void backwardInput(double[] dy, double[] x, double[] gamma, double[] reciprocal, double[] dx,
            boolean accumulate) {
        int c = gamma.length;
        for (int row = 0; row < reciprocal.length; row++) {
            int at = row * c;
            double r = reciprocal[row];
            double mean = 0;
            for (int j = 0; j < c; j++) {
                mean += dy[at + j] * gamma[j] * x[at + j] * r / c;
            }
            for (int j = 0; j < c; j++) {
                double gradient = r * (dy[at + j] * gamma[j] - x[at + j] * r * mean);
                dx[at + j] = accumulate ? dx[at + j] + gradient : gradient;
            }
        }
    }

    /** dGamma += the sum over norms of dy x r. */
    public static void backwardWeight(double[] dy, double[] x, double[] reciprocal, double[] dGamma) {
        int c = dGamma.length;
        for (int row = 0; row < reciprocal.length; row++) {
            for (int j = 0; j < c; j++) {
                dGamma[j] += dy[row * c + j] * x[row * c + j] * reciprocal[row];
            }
        }
    }
}
