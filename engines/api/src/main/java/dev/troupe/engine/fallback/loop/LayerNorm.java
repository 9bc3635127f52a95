package dev.troupe.engine.fallback.loop;

/**
 * Layer norm of rows (Ba et al. 2016): y = gamma xhat + beta with xhat = (x - mean) r, r = 1 / sqrt(variance + epsilon),
 * and the variance of the whole row (divided by C). Letters: N rows, C hidden size.
 */
public final class LayerNorm {
    private LayerNorm() {
    }

    /** x, y [N x C]; gamma, beta [C]; mean, reciprocal [N]. */
    public static void forward(double[] x, double[] gamma, double[] beta, double epsilon, double[] y, double[] mean,
            double[] reciprocal, int n, int c) {
        for (int row = 0; row < n; row++) {
            int at = row * c;
            double sum = 0;
            for (int j = 0; j < c; j++) {
                sum += x[at + j];
            }
            double centre = sum / c;
            double squares = 0;
            for (int j = 0; j < c; j++) {
                double offset = x[at + j] - centre;
                squares += offset * offset;
            }
            double r = 1 / Math.sqrt(squares / c + epsilon);
            for (int j = 0; j < c; j++) {
                y[at + j] = (x[at + j] - centre) * r * gamma[j] + beta[j];
            }
            mean[row] = centre;
            reciprocal[row] = r;
        }
    }

    /** dx (+)= r (g - mean(g) - xhat mean(g xhat)) of each row, with g = dy gamma; dx may be dy. */
    public static void backwardInput(double[] dy, double[] x, double[] gamma, double[] mean, double[] reciprocal,
            double[] dx,
            boolean accumulate, int n, int c) {
        for (int row = 0; row < n; row++) {
            int at = row * c;
            double r = reciprocal[row];
            double gradientSum = 0;
            double productSum = 0;
            for (int j = 0; j < c; j++) {
                double g = dy[at + j] * gamma[j];
                gradientSum += g;
                productSum += g * (x[at + j] - mean[row]) * r;
            }
            for (int j = 0; j < c; j++) {
                double g = dy[at + j] * gamma[j];
                double normalized = (x[at + j] - mean[row]) * r;
                double gradient = r * (g - gradientSum / c - normalized * (productSum / c));
                dx[at + j] = accumulate ? dx[at + j] + gradient : gradient;
            }
        }
    }

    /** dGamma [C] += sum over rows of dy xhat; dBeta [C] += sum over rows of dy. */
    public static void backwardWeight(double[] dy, double[] x, double[] mean, double[] reciprocal, double[] dGamma,
            double[] dBeta, int n, int c) {
        for (int row = 0; row < n; row++) {
            int at = row * c;
            for (int j = 0; j < c; j++) {
                dGamma[j] += dy[at + j] * (x[at + j] - mean[row]) * reciprocal[row];
                dBeta[j] += dy[at + j];
            }
        }
    }
}
