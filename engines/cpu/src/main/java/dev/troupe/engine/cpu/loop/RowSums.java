package dev.troupe.engine.cpu.loop;

import jdk.incubator.vector.FloatVector;

/**
 * Sums over a row of floats, and over its distances from a mean, by vectors of partial sums. A vector that comes from either
 * of two ways, as behind an {@code if} or a second loop, is an object in one process of some twenty: such a vector goes
 * through {@code lanes}, memory for one vector that the calling thread has to itself.
 */
final class RowSums {
    private RowSums() {
    }

    /** The sum of a row. */
    static float sum(long x, int c, long lanes) {
        FloatVector even = Lanes.zeros();
        FloatVector odd = Lanes.zeros();
        int i = 0;
        for (; i + 2 * Lanes.COUNT <= c; i += 2 * Lanes.COUNT) {
            even = even.add(Lanes.load(x, i));
            odd = odd.add(Lanes.load(x, i + Lanes.COUNT));
        }
        Lanes.store(even.add(odd), lanes, 0);
        if (i + Lanes.COUNT <= c) {
            Lanes.store(Lanes.load(lanes, 0).add(Lanes.load(x, i)), lanes, 0);
            i += Lanes.COUNT;
        }
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
        Lanes.store(even.add(odd), lanes, 0);
        if (i + Lanes.COUNT <= c) {
            FloatVector offset = Lanes.load(x, i).sub(means);
            Lanes.store(offset.fma(offset, Lanes.load(lanes, 0)), lanes, 0);
            i += Lanes.COUNT;
        }
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

    /** Adds four rows that lie {@code rowBytes} apart to a sum. */
    static void addFour(long x, long rowBytes, long sum, int count) {
        long second = x + rowBytes;
        long third = second + rowBytes;
        long fourth = third + rowBytes;
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector left = Lanes.load(x, i).add(Lanes.load(second, i));
            FloatVector right = Lanes.load(third, i).add(Lanes.load(fourth, i));
            Lanes.store(Lanes.load(sum, i).add(left.add(right)), sum, i);
        }
        for (int i = whole; i < count; i++) {
            float left = Lanes.get(x, i) + Lanes.get(second, i);
            float right = Lanes.get(third, i) + Lanes.get(fourth, i);
            Lanes.set(sum, i, Lanes.get(sum, i) + (left + right));
        }
    }
}
