package dev.troupe.engine.fallback.loop;

/** Matrix products and biases. Letters: M, N rows and columns of a result, K terms of a sum. */
public final class MatrixProduct {
    private MatrixProduct() {
    }

    /**
     * product [M x N] += op(left) op(right), with k ascending in every sum.
     *
     * @param left [M x K], or [K x M] when transposed
     * @param right [K x N], or [N x K] when transposed
     */
    public static void add(double[] left, boolean transposeLeft, double[] right, boolean transposeRight,
            double[] product,
            int m, int k, int n) {
        // The innermost loop runs along rows of right and product, so a transposed right is copied first. The order of every
        // sum is the same in all four cases.
        double[] rightRows = transposeRight ? transposed(right, n, k) : right; // [K x N]
        int stepI = transposeLeft ? 1 : k;
        int stepP = transposeLeft ? m : 1;
        for (int i = 0; i < m; i++) {
            int row = i * n;
            for (int p = 0; p < k; p++) {
                double factor = left[i * stepI + p * stepP];
                int rightRow = p * n;
                for (int j = 0; j < n; j++) {
                    product[row + j] += factor * rightRows[rightRow + j];
                }
            }
        }
    }

    /** y [N x M] = x [N x K] op(weight) + bias [M], op(weight) [K x M]; each sum begins with the bias. */
    public static void linear(double[] x, double[] weight, boolean transposeWeight, double[] bias, double[] y, int n,
            int k,
            int m) {
        for (int row = 0; row < n; row++) {
            System.arraycopy(bias, 0, y, row * m, m);
        }
        add(x, false, weight, transposeWeight, y, n, k, m);
    }

    /** dBias [M] += the column sums of dy [N x M]. */
    public static void biasBackward(double[] dy, double[] dBias, int n, int m) {
        for (int row = 0; row < n; row++) {
            for (int j = 0; j < m; j++) {
                dBias[j] += dy[row * m + j];
            }
        }
    }

    private static double[] transposed(double[] matrix, int rows, int columns) {
        double[] turned = new double[rows * columns];
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                turned[j * rows + i] = matrix[i * columns + j];
            }
        }
        return turned;
    }
}
