package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.memory.CpuTensor;
import jdk.incubator.vector.FloatVector;

/** A bias added to rows, and its gradient. */
public final class Bias {
    /** Rows that are summed before their sum is added to the gradient. */
    private static final int ROWS = 4;
    private static final int BLOCK_ROWS = 4 * ROWS;

    private Bias() {
    }

    public static void add(long bias, long row, int count) {
        Elements.add(row, bias, row, count);
    }

    public static long scratchBytes(int columns) {
        return 4L * BLOCK_ROWS * columns;
    }

    /** Adds the sums of some columns of dy [N x M] to dBias [M]. */
    public static void backward(CpuTensor dy, long dBias, int first, int columns, long scratch) {
        int rows = dy.size(0);
        int m = dy.size(1);
        if (!dy.isNarrow()) {
            addRows(dy.addressOf(first), rows, m, dBias + 4L * first, columns);
            return;
        }
        for (int row = 0; row < rows; row += BLOCK_ROWS) {
            int count = Math.min(BLOCK_ROWS, rows - row);
            for (int i = 0; i < count; i++) {
                dy.read((long) (row + i) * m + first, columns, scratch + 4L * i * columns);
            }
            addRows(scratch, count, columns, dBias + 4L * first, columns);
        }
    }

    /** Rows of floats at a distance of m. */
    private static void addRows(long dy, int rows, int m, long dBias, int columns) {
        int row = 0;
        for (; row + ROWS <= rows; row += ROWS) {
            addFour(dy + 4L * row * m, m, dBias, columns);
        }
        for (; row < rows; row++) {
            Elements.add(dBias, dy + 4L * row * m, dBias, columns);
        }
    }

    private static void addFour(long dy, int m, long dBias, int columns) {
        long second = dy + 4L * m;
        long third = second + 4L * m;
        long fourth = third + 4L * m;
        int whole = Lanes.whole(columns);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector left = Lanes.load(dy, i).add(Lanes.load(second, i));
            FloatVector right = Lanes.load(third, i).add(Lanes.load(fourth, i));
            Lanes.store(Lanes.load(dBias, i).add(left.add(right)), dBias, i);
        }
        for (int i = whole; i < columns; i++) {
            float left = Lanes.get(dy, i) + Lanes.get(second, i);
            float right = Lanes.get(third, i) + Lanes.get(fourth, i);
            Lanes.set(dBias, i, Lanes.get(dBias, i) + (left + right));
        }
    }
}
