package dev.troupe.engine.cpu.loop;

import jdk.incubator.vector.FloatVector;

/** Sums over a row of floats, and over its distances from a mean, in vectors of partial sums. */
final class RowSums {
    private RowSums() {
    }

    static float sum(long x, int c, long lanes) {
        FloatVector even = Lanes.zeros();
        FloatVector odd = Lanes.zeros();
        int i = 0;
        for (; i + 2 * Lanes.COUNT <= c; i += 2 * Lanes.COUNT) {
            even = even.add(Lanes.load(x, i));
            odd = odd.add(Lanes.load(x, i + Lanes.COUNT));
        }
        FloatVector sums = even.add(odd);
        for (; i + Lanes.COUNT <= c; i += Lanes.COUNT) {
            sums = sums.add(Lanes.load(x, i));
        }
        Lanes.store(sums, lanes, 0);
        float sum = Lanes.sum(lanes);
        for (; i < c; i++) {
            sum += Lanes.get(x, i);
        }
        return sum;
    }

    /** The sum of the squares of a row's distances from its mean. */
    static float squaredOffsets(long x, float mean, int c, long lanes) {
        FloatVector means = Lanes.all(mean);
        FloatVector even = Lanes.zeros();
        FloatVector odd = Lanes.zeros();
        int i = 0;
        for (; i + 2 * Lanes.COUNT <= c; i += 2 * Lanes.COUNT) {
            FloatVector first = Lanes.load(x, i).sub(means);
            FloatVector second = Lanes.load(x, i + Lanes.COUNT).sub(means);
            even = first.fma(first, even);
            odd = second.fma(second, odd);
        }
        FloatVector squares = even.add(odd);
        for (; i + Lanes.COUNT <= c; i += Lanes.COUNT) {
            FloatVector offset = Lanes.load(x, i).sub(means);
            squares = offset.fma(offset, squares);
        }
        Lanes.store(squares, lanes, 0);
        float sum = Lanes.sum(lanes);
        for (; i < c; i++) {
            float offset = Lanes.get(x, i) - mean;
            sum = Math.fma(offset, offset, sum);
        }
        return sum;
    }

    /** Stores the sums of g and of g xhat, over the whole vectors of a row, as two vectors. */
    static void backwardSums(long dy, long x, long gamma, float mean, float r, int c, long lanes) {
        FloatVector means = Lanes.all(mean);
        FloatVector reciprocals = Lanes.all(r);
        FloatVector gradients = Lanes.zeros();
        FloatVector products = Lanes.zeros();
        int whole = Lanes.whole(c);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector g = Lanes.load(dy, i).mul(Lanes.load(gamma, i));
            gradients = gradients.add(g);
            products = g.fma(Lanes.load(x, i).sub(means).mul(reciprocals), products);
        }
        Lanes.store(gradients, lanes, 0);
        Lanes.store(products, lanes + Lanes.ALIGNMENT, 0);
    }
}
