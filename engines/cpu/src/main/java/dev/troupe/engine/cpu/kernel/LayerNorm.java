package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;
import jdk.incubator.vector.FloatVector;

/**
 * Layer norm of rows (Ba et al. 2016): y = gamma xhat + beta with xhat = (x - mean) r, r = 1 / sqrt(variance + epsilon),
 * and the variance of the whole row (divided by C). Letters: N rows, C hidden size. A row is read from memory once and then
 * again from the cache.
 */
public final class LayerNorm {
    /** The beginning of rows in scratch memory, after two vectors. */
    private static final long ROWS = 2 * Lanes.ALIGNMENT;
    /** Rows in a block, of which some columns are widened together. */
    private static final int BLOCK_ROWS = 16;

    private LayerNorm() {
    }

    /** Bytes of scratch memory: two vectors, and three rows or the columns of a block of rows. */
    public static long scratchBytes(int c) {
        return ROWS + 4L * Math.max(3, 2 * BLOCK_ROWS) * c;
    }

    /** Some rows of residual, null or added to x first, x and y [N x C]; gamma, beta [C]; mean, reciprocal [N]. */
    public static void forward(CpuTensor residual, CpuTensor x, long gamma, long beta, double epsilon, CpuTensor y,
            long mean,
            long reciprocal, int first, int rows, long scratch) {
        int c = x.size(1);
        for (int row = first; row < first + rows; row++) {
            if (residual != null) {
                Elementwise.add(residual, x, x, (long) row * c, c, scratch);
            }
            long in = x.read((long) row * c, c, scratch + ROWS);
            long out = y.target((long) row * c, scratch + ROWS);
            float centre = RowLoop.sum(in, c, scratch) / c;
            float r = (float) (1 / Math.sqrt((double) RowLoop.squaredOffsets(in, centre, c, scratch) / c + epsilon));
            normalize(in, centre, r, gamma, beta, out, c);
            y.written((long) row * c, c, out);
            Lanes.set(mean, row, centre);
            Lanes.set(reciprocal, row, r);
        }
    }

    private static void normalize(long x, float mean, float r, long gamma, long beta, long y, int c) {
        int whole = Lanes.whole(c);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector normalized = Lanes.load(x, i).sub(mean).mul(r);
            Lanes.store(normalized.fma(Lanes.load(gamma, i), Lanes.load(beta, i)), y, i);
        }
        for (int i = whole; i < c; i++) {
            float normalized = (Lanes.get(x, i) - mean) * r;
            Lanes.set(y, i, Math.fma(normalized, Lanes.get(gamma, i), Lanes.get(beta, i)));
        }
    }

    /** dx (+)= r (g - mean(g) - xhat mean(g xhat)) of some rows, with g = dy gamma; dx may be dy. */
    public static void backwardInput(CpuTensor dy, CpuTensor x, long gamma, long mean, long reciprocal, CpuTensor dx,
            boolean accumulate, int first, int rows, long scratch) {
        int c = x.size(1);
        long second = scratch + ROWS + 4L * c;
        long third = second + 4L * c;
        for (int row = first; row < first + rows; row++) {
            long at = (long) row * c;
            long to = accumulate ? dx.read(at, c, third) : dx.target(at, third);
            backwardRow(dy.read(at, c, scratch + ROWS), x.read(at, c, second), gamma, Lanes.get(mean, row),
                    Lanes.get(reciprocal, row), to, accumulate, c, scratch);
            dx.written(at, c, to);
        }
    }

    private static void backwardRow(long dy, long x, long gamma, float mean, float r, long dx, boolean accumulate,
            int c, long lanes) {
        RowLoop.normSums(dy, x, gamma, mean, r, c, lanes);
        float gradients = Lanes.sum(lanes);
        float products = Lanes.sum(lanes + Lanes.ALIGNMENT);
        for (int i = Lanes.whole(c); i < c; i++) {
            float g = Lanes.get(dy, i) * Lanes.get(gamma, i);
            gradients += g;
            products = Math.fma(g, (Lanes.get(x, i) - mean) * r, products);
        }
        if (accumulate) {
            addRowGradient(dy, x, gamma, mean, r, gradients / c, products / c, dx, c);
        } else {
            rowGradient(dy, x, gamma, mean, r, gradients / c, products / c, dx, c);
        }
    }

    private static void rowGradient(long dy, long x, long gamma, float mean, float r, float gradientMean,
            float productMean, long dx, int c) {
        FloatVector reciprocals = Lanes.all(r);
        int whole = Lanes.whole(c);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector g = Lanes.load(dy, i).mul(Lanes.load(gamma, i));
            FloatVector normalized = Lanes.load(x, i).sub(mean).mul(reciprocals);
            FloatVector inner = g.sub(gradientMean).sub(normalized.mul(productMean));
            Lanes.store(inner.mul(reciprocals), dx, i);
        }
        for (int i = whole; i < c; i++) {
            Lanes.set(dx, i, inner(dy, x, gamma, mean, r, gradientMean, productMean, i) * r);
        }
    }

    private static void addRowGradient(long dy, long x, long gamma, float mean, float r, float gradientMean,
            float productMean, long dx, int c) {
        FloatVector reciprocals = Lanes.all(r);
        int whole = Lanes.whole(c);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector g = Lanes.load(dy, i).mul(Lanes.load(gamma, i));
            FloatVector normalized = Lanes.load(x, i).sub(mean).mul(reciprocals);
            FloatVector inner = g.sub(gradientMean).sub(normalized.mul(productMean));
            Lanes.store(inner.fma(reciprocals, Lanes.load(dx, i)), dx, i);
        }
        for (int i = whole; i < c; i++) {
            float inner = inner(dy, x, gamma, mean, r, gradientMean, productMean, i);
            Lanes.set(dx, i, Math.fma(inner, r, Lanes.get(dx, i)));
        }
    }

    /** g - mean(g) - xhat mean(g xhat), of one element. */
    private static float inner(long dy, long x, long gamma, float mean, float r, float gradientMean,
            float productMean, int i) {
        float normalized = (Lanes.get(x, i) - mean) * r;
        return Lanes.get(dy, i) * Lanes.get(gamma, i) - gradientMean - normalized * productMean;
    }

    /** dGamma += sum over rows of dy xhat; dBeta += sum over rows of dy: for some columns of dy and x [N x C]. */
    public static void backwardWeight(CpuTensor dy, CpuTensor x, long mean, long reciprocal, long dGamma, long dBeta,
            int first, int columns, long scratch) {
        int rows = x.size(0);
        int c = x.size(1);
        long gammaAt = dGamma + 4L * first;
        long betaAt = dBeta + 4L * first;
        if (!x.isNarrow()) {
            addRows(dy.addressOf(first), x.addressOf(first), mean, reciprocal, rows, c, gammaAt, betaAt, columns);
            return;
        }
        long widened = scratch + 4L * BLOCK_ROWS * columns;
        for (int row = 0; row < rows; row += BLOCK_ROWS) {
            int count = Math.min(BLOCK_ROWS, rows - row);
            for (int i = 0; i < count; i++) {
                dy.read((long) (row + i) * c + first, columns, scratch + 4L * i * columns);
                x.read((long) (row + i) * c + first, columns, widened + 4L * i * columns);
            }
            addRows(scratch, widened, mean + 4L * row, reciprocal + 4L * row, count, columns, gammaAt, betaAt,
                    columns);
        }
    }

    /** Rows of floats at a distance of c. */
    private static void addRows(long dy, long x, long mean, long reciprocal, int rows, int c, long dGamma, long dBeta,
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
        for (int i = whole; i < columns; i++) {
            float d = Lanes.get(dy, i);
            float next = Lanes.get(nextDy, i);
            float product = Math.fma(next, (Lanes.get(nextX, i) - nextMean) * nextR,
                    d * ((Lanes.get(x, i) - mean) * r));
            Lanes.set(dGamma, i, Lanes.get(dGamma, i) + product);
            Lanes.set(dBeta, i, Lanes.get(dBeta, i) + (d + next));
        }
    }

    private static void addRow(long dy, long x, float mean, float r, long dGamma, long dBeta, int columns) {
        for (int i = 0; i < columns; i++) {
            float d = Lanes.get(dy, i);
            Lanes.set(dGamma, i, Math.fma(d, (Lanes.get(x, i) - mean) * r, Lanes.get(dGamma, i)));
            Lanes.set(dBeta, i, Lanes.get(dBeta, i) + d);
        }
    }
}
