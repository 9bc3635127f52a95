package dev.troupe.engine.fallback.loop;

import dev.troupe.engine.Dropout;

/** Sums, products and dropout of elements, one by one. */
public final class Elements {
    private Elements() {
    }

    /** sum = left + right; sum may be either of them. */
    public static void add(double[] left, double[] right, double[] sum) {
        for (int i = 0; i < sum.length; i++) {
            sum[i] = left[i] + right[i];
        }
    }

    public static void scale(double[] elements, double factor) {
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
    }

    public static double sum(double[] elements) {
        double total = 0;
        for (double element : elements) {
            total += element;
        }
        return total;
    }

    public static double squaredSum(double[] elements) {
        double total = 0;
        for (double element : elements) {
            total += element * element;
        }
        return total;
    }

    /** y = x factor, both [N x columns], with the factors of the dropout; y may be x. */
    public static void dropOut(double[] x, int columns, Dropout dropout, double[] y) {
        Dropout.Reader reader = dropout.reader();
        for (int row = 0; row < x.length / columns; row++) {
            for (int column = 0; column < columns; column++) {
                int i = row * columns + column;
                y[i] = x[i] * reader.factor(dropout.placeInMatrix(row) + column);
            }
        }
    }
}
