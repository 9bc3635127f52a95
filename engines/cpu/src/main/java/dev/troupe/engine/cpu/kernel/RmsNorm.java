package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;
import jdk.incubator.vector.FloatVector;

/**
 * The norm by the root mean square of C neighbours (Zhang and Sennrich 2019): y = gamma x r with r = 1 / sqrt(mean(x x) +
 * epsilon). Norms are counted over the whole matrix.
 */
public final class RmsNorm {
    /** The beginning of floats in scratch memory, after two vectors. */
    private static final long FLOATS = 2 * Lanes.ALIGNMENT;

    private RmsNorm() {
    }

    /** Bytes of scratch memory: two vectors, and three times the neighbours. */
    public static long scratchBytes(int c) {
        return FLOATS + 4L * 3 * c;
    }

    /** Some norms of x, after adding residual unless it is null; gamma [C], reciprocal a number for each norm. */
    public static void forward(CpuTensor residual, CpuTensor x, long gamma, int c, double epsilon, CpuTensor y,
            long reciprocal, int first, int count, long scratch) {
        for (int norm = first; norm < first + count; norm++) {
            long at = (long) norm * c;
            if (residual != null) {
                Elementwise.add(residual, x, x, at, c, scratch);
            }
            long in = x.read(at, c, scratch + FLOATS);
            long out = y.target(at, scratch + FLOATS);
            float r = (float) (1 / Math.sqrt((double) RowLoop.squaredOffsets(in, 0, c, scratch) / c + epsilon));
            normalize(in, r, gamma, out, c);
            y.written(at, c, out);
            Lanes.set(reciprocal, norm, r);
        }
    }

    private static void normalize(long x, float r, long gamma, long y, int c) {
        int whole = Lanes.whole(c);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(x, i).mul(r).mul(Lanes.load(gamma, i)), y, i);
        }
        for (int i = whole; i < c; i++) {
            Lanes.set(y, i, Lanes.get(x, i) * r * Lanes.get(gamma, i));
        }
    }

    /** dx (+)= r (g - x r mean(g x r)) of some norms, with g = dy gamma; dx may be dy. */
    public static void backwardInput(CpuTensor dy, CpuTensor x, long gamma, int c, long reciprocal, CpuTensor dx,
            boolean accumulate, int first, int count, long scratch) {
        long second = scratch + FLOATS + 4L * c;
        long third = second + 4L * c;
        for (int norm = first; norm < first + count; norm++) {
            long at = (long) norm * c;
            long to = accumulate ? dx.read(at, c, third) : dx.target(at, third);
            long gradient = dy.read(at, c, scratch + FLOATS);
            long in = x.read(at, c, second);
            float r = Lanes.get(reciprocal, norm);
            float mean = products(gradient, in, gamma, r, c, scratch) / c;
            gradient(gradient, in, gamma, r, mean, accumulate, to, c);
            dx.written(at, c, to);
        }
    }

    /** The sum of g x r. */
    private static float products(long dy, long x, long gamma, float r, int c, long lanes) {
        RowLoop.normSums(dy, x, gamma, 0, r, c, lanes);
        float products = Lanes.sum(lanes + Lanes.ALIGNMENT);
        for (int i = Lanes.whole(c); i < c; i++) {
            products = Math.fma(Lanes.get(dy, i) * Lanes.get(gamma, i), Lanes.get(x, i) * r, products);
        }
        return products;
    }

    private static void gradient(long dy, long x, long gamma, float r, float mean, boolean accumulate, long dx,
            int c) {
        float share = r * r * mean;
        int whole = Lanes.whole(c);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector before = accumulate ? Lanes.load(dx, i) : Lanes.zeros();
            FloatVector g = Lanes.load(dy, i).mul(Lanes.load(gamma, i)).mul(r);
            Lanes.store(Lanes.load(x, i).mul(-share).add(g).add(before), dx, i);
        }
        for (int i = whole; i < c; i++) {
            float before = accumulate ? Lanes.get(dx, i) : 0;
            float g = Lanes.get(dy, i) * Lanes.get(gamma, i) * r;
            Lanes.set(dx, i, Lanes.get(x, i) * -share + g + before);
        }
    }

    /** dGamma += the sum over all norms of dy x r, in their order: some of the C neighbours, from one on. */
    public static void backwardWeight(CpuTensor dy, CpuTensor x, long reciprocal, long dGamma, int c, int first,
            int columns, long scratch) {
        long norms = x.elementCount() / c;
        for (long norm = 0; norm < norms; norm++) {
            long at = norm * c + first;
            long gradient = dy.read(at, columns, scratch + FLOATS);
            long in = x.read(at, columns, scratch + FLOATS + 4L * c);
            addProducts(gradient, in, Lanes.get(reciprocal, (int) norm), dGamma + 4L * first, columns);
        }
    }

    private static void addProducts(long dy, long x, float r, long dGamma, int columns) {
        int whole = Lanes.whole(columns);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(dy, i).fma(Lanes.load(x, i).mul(r), Lanes.load(dGamma, i)), dGamma, i);
        }
        for (int i = whole; i < columns; i++) {
            Lanes.set(dGamma, i, Math.fma(Lanes.get(dy, i), Lanes.get(x, i) * r, Lanes.get(dGamma, i)));
        }
    }
}
