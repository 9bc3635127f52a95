package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;

/**
 * Layer norm of rows (Ba et al. 2016): y = gamma xhat + beta with xhat = (x - mean) r, r = 1 / sqrt(variance + epsilon),
 * the variance that of the whole row (divided by C). Letters: N rows, C hidden size. A row is read from memory once and
 * then again from the cache.
 */
final class LayerNorm {
    private LayerNorm() {
    }

    /** x, y [rows x C]; gamma, beta [C]; mean, reciprocal [rows]. */
    static void forward(long x, long gamma, long beta, double epsilon, long y, long mean, long reciprocal, int rows,
            int c) {
        for (int row = 0; row < rows; row++) {
            long at = 4L * row * c;
            float centre = sum(x + at, c) / c;
            float r = (float) (1 / Math.sqrt((double) squaredOffsets(x + at, centre, c) / c + epsilon));
            normalize(x + at, centre, r, gamma, beta, y + at, c);
            Lanes.set(mean, row, centre);
            Lanes.set(reciprocal, row, r);
        }
    }

    private static float sum(long x, int c) {
        int whole = Lanes.whole(c);
        int pairs = whole - whole % (2 * Lanes.COUNT);
        FloatVector even = Lanes.zeros();
        FloatVector odd = Lanes.zeros();
        for (int i = 0; i < pairs; i += 2 * Lanes.COUNT) {
            even = even.add(Lanes.load(x, i));
            odd = odd.add(Lanes.load(x, i + Lanes.COUNT));
        }
        if (pairs < whole) {
            even = even.add(Lanes.load(x, pairs));
        }
        if (whole < c) {
            odd = odd.add(Lanes.load(x, whole, Lanes.rest(whole, c)));
        }
        return Lanes.sum(even.add(odd));
    }

    private static float squaredOffsets(long x, float mean, int c) {
        int whole = Lanes.whole(c);
        int pairs = whole - whole % (2 * Lanes.COUNT);
        FloatVector even = Lanes.zeros();
        FloatVector odd = Lanes.zeros();
        for (int i = 0; i < pairs; i += 2 * Lanes.COUNT) {
            FloatVector first = Lanes.load(x, i).sub(mean);
            FloatVector second = Lanes.load(x, i + Lanes.COUNT).sub(mean);
            even = first.fma(first, even);
            odd = second.fma(second, odd);
        }
        if (pairs < whole) {
            FloatVector offset = Lanes.load(x, pairs).sub(mean);
            even = offset.fma(offset, even);
        }
        if (whole < c) {
            VectorMask<Float> rest = Lanes.rest(whole, c);
            FloatVector offset = Lanes.zeros().blend(Lanes.load(x, whole, rest).sub(mean), rest);
            odd = offset.fma(offset, odd);
        }
        return Lanes.sum(even.add(odd));
    }

    private static void normalize(long x, float mean, float r, long gamma, long beta, long y, int c) {
        int whole = Lanes.whole(c);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector normalized = Lanes.load(x, i).sub(mean).mul(r);
            Lanes.store(normalized.fma(Lanes.load(gamma, i), Lanes.load(beta, i)), y, i);
        }
        if (whole < c) {
            VectorMask<Float> rest = Lanes.rest(whole, c);
            FloatVector normalized = Lanes.load(x, whole, rest).sub(mean).mul(r);
            Lanes.store(normalized.fma(Lanes.load(gamma, whole, rest), Lanes.load(beta, whole, rest)), y, whole, rest);
        }
    }

    /** dx (+)= r (g - mean(g) - xhat mean(g xhat)) of each row, with g = dy gamma; dx may be dy. */
    static void backwardInput(long dy, long x, long gamma, long mean, long reciprocal, long dx, boolean accumulate,
            int rows, int c) {
        for (int row = 0; row < rows; row++) {
            long at = 4L * row * c;
            backwardRow(dy + at, x + at, gamma, Lanes.get(mean, row), Lanes.get(reciprocal, row), dx + at, accumulate,
                    c);
        }
    }

    private static void backwardRow(long dy, long x, long gamma, float mean, float r, long dx, boolean accumulate,
            int c) {
        int whole = Lanes.whole(c);
        VectorMask<Float> rest = Lanes.rest(whole, c);
        FloatVector gradients = Lanes.zeros();
        FloatVector products = Lanes.zeros();
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector g = Lanes.load(dy, i).mul(Lanes.load(gamma, i));
            gradients = gradients.add(g);
            products = g.fma(Lanes.load(x, i).sub(mean).mul(r), products);
        }
        if (whole < c) {
            FloatVector g = Lanes.load(dy, whole, rest).mul(Lanes.load(gamma, whole, rest));
            gradients = gradients.add(g);
            products = g.fma(Lanes.load(x, whole, rest).sub(mean).mul(r), products);
        }
        float gradientMean = Lanes.sum(gradients) / c;
        float productMean = Lanes.sum(products) / c;
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector g = Lanes.load(dy, i).mul(Lanes.load(gamma, i));
            FloatVector d = inner(g, Lanes.load(x, i), mean, r, gradientMean, productMean);
            Lanes.store(accumulate ? d.fma(Lanes.all(r), Lanes.load(dx, i)) : d.mul(r), dx, i);
        }
        if (whole < c) {
            FloatVector g = Lanes.load(dy, whole, rest).mul(Lanes.load(gamma, whole, rest));
            FloatVector d = inner(g, Lanes.load(x, whole, rest), mean, r, gradientMean, productMean);
            Lanes.store(accumulate ? d.fma(Lanes.all(r), Lanes.load(dx, whole, rest)) : d.mul(r), dx, whole, rest);
        }
    }

    /** g - mean(g) - xhat mean(g xhat). */
    private static FloatVector inner(FloatVector g, FloatVector x, float mean, float r, float gradientMean,
            float productMean) {
        return x.sub(mean).mul(r).fma(Lanes.all(-productMean), g.sub(gradientMean));
    }

    /**
     * dGamma += sum over rows of dy xhat; dBeta += sum over rows of dy: for some columns, whose first one dy, x, dGamma
     * and dBeta point to.
     */
    static void backwardWeight(long dy, long x, long mean, long reciprocal, int rows, int c, long dGamma, long dBeta,
            int columns) {
        int row = 0;
        for (; row + 1 < rows; row += 2) {
            long at = 4L * row * c;
            addTwoRows(dy + at, x + at, c, Lanes.get(mean, row), Lanes.get(reciprocal, row), Lanes.get(mean, row + 1),
                    Lanes.get(reciprocal, row + 1), dGamma, dBeta, columns);
        }
        if (row < rows) {
            long at = 4L * row * c;
            addRow(dy + at, x + at, Lanes.get(mean, row), Lanes.get(reciprocal, row), dGamma, dBeta, columns);
        }
    }

    private static void addTwoRows(long dy, long x, int c, float mean, float r, float nextMean, float nextR,
            long dGamma, long dBeta, int columns) {
        long nextDy = dy + 4L * c;
        long nextX = x + 4L * c;
        int whole = Lanes.whole(columns);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector d = Lanes.load(dy, i);
            FloatVector next = Lanes.load(nextDy, i);
            FloatVector product = d.mul(Lanes.load(x, i).sub(mean).mul(r));
            product = next.fma(Lanes.load(nextX, i).sub(nextMean).mul(nextR), product);
            Lanes.store(Lanes.load(dGamma, i).add(product), dGamma, i);
            Lanes.store(Lanes.load(dBeta, i).add(d.add(next)), dBeta, i);
        }
        if (whole < columns) {
            VectorMask<Float> rest = Lanes.rest(whole, columns);
            FloatVector d = Lanes.load(dy, whole, rest);
            FloatVector next = Lanes.load(nextDy, whole, rest);
            FloatVector product = d.mul(Lanes.load(x, whole, rest).sub(mean).mul(r));
            product = next.fma(Lanes.load(nextX, whole, rest).sub(nextMean).mul(nextR), product);
            Lanes.store(Lanes.load(dGamma, whole, rest).add(product), dGamma, whole, rest);
            Lanes.store(Lanes.load(dBeta, whole, rest).add(d.add(next)), dBeta, whole, rest);
        }
    }

    private static void addRow(long dy, long x, float mean, float r, long dGamma, long dBeta, int columns) {
        for (int i = 0; i < columns; i += Lanes.COUNT) {
            VectorMask<Float> lanes = Lanes.rest(i, columns);
            FloatVector d = Lanes.load(dy, i, lanes);
            FloatVector normalized = Lanes.load(x, i, lanes).sub(mean).mul(r);
            Lanes.store(d.fma(normalized, Lanes.load(dGamma, i, lanes)), dGamma, i, lanes);
            Lanes.store(Lanes.load(dBeta, i, lanes).add(d), dBeta, i, lanes);
        }
    }
}
