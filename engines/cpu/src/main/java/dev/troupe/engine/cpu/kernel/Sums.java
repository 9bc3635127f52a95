package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.WorkerPool;

/**
 * Sums in float64. Each block of {@link #BLOCK} floats is summed by itself, in eight interleaved sums that are added at
 * its end; the blocks' sums are added in their order.
 */
public final class Sums {
    /** Floats in one term of the total. */
    static final int BLOCK = 4096;
    private static final int WAYS = 8;

    private Sums() {
    }

    /** The sum of all elements, or of their squares. */
    public static double ofBlocks(WorkerPool pool, long address, long count, boolean squares) {
        double[] sums = new double[(int) ((count + BLOCK - 1) / BLOCK)];
        pool.share(count, BLOCK, (from, floats, member) -> sums[(int) (from / BLOCK)] = squares
                ? ofSquares(address + 4 * from, floats)
                : ofElements(address + 4 * from, floats));
        double total = 0;
        for (double sum : sums) {
            total += sum;
        }
        return total;
    }

    private static double ofElements(long address, int count) {
        double s0 = 0;
        double s1 = 0;
        double s2 = 0;
        double s3 = 0;
        double s4 = 0;
        double s5 = 0;
        double s6 = 0;
        double s7 = 0;
        int whole = count - count % WAYS;
        for (int i = 0; i < whole; i += WAYS) {
            s0 += Lanes.get(address, i);
            s1 += Lanes.get(address, i + 1);
            s2 += Lanes.get(address, i + 2);
            s3 += Lanes.get(address, i + 3);
            s4 += Lanes.get(address, i + 4);
            s5 += Lanes.get(address, i + 5);
            s6 += Lanes.get(address, i + 6);
            s7 += Lanes.get(address, i + 7);
        }
        for (int i = whole; i < count; i++) {
            s0 += Lanes.get(address, i);
        }
        return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    }

    private static double ofSquares(long address, int count) {
        double s0 = 0;
        double s1 = 0;
        double s2 = 0;
        double s3 = 0;
        double s4 = 0;
        double s5 = 0;
        double s6 = 0;
        double s7 = 0;
        int whole = count - count % WAYS;
        for (int i = 0; i < whole; i += WAYS) {
            s0 += square(address, i);
            s1 += square(address, i + 1);
            s2 += square(address, i + 2);
            s3 += square(address, i + 3);
            s4 += square(address, i + 4);
            s5 += square(address, i + 5);
            s6 += square(address, i + 6);
            s7 += square(address, i + 7);
        }
        for (int i = whole; i < count; i++) {
            s0 += square(address, i);
        }
        return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    }

    private static double square(long address, int index) {
        double element = Lanes.get(address, index);
        return element * element;
    }
}
