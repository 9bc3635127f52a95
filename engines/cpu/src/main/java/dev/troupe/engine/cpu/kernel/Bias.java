package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.memory.CpuTensor;

/** A bias added to rows, and its gradient. */
public final class Bias {
    /** Rows that are added up before their sum goes to the gradient. */
    private static final int ROWS = 4;
    /** Rows that are widened together. */
    private static final int BLOCK_ROWS = 4 * ROWS;

    private Bias() {
    }

    /** Adds {@code bias} to a row. */
    public static void add(long bias, long row, int count) {
        Elements.add(row, bias, row, count);
    }

    /** Bytes of scratch memory for so many columns. */
    public static long scratchBytes(int columns) {
        return 4L * BLOCK_ROWS * columns;
    }

    /** Adds the sums of some columns of dy [N x M] to those of dBias [M]. */
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

    /** Rows of floats that lie m apart. */
    private static void addRows(long dy, int rows, int m, long dBias, int columns) {
        int row = 0;
        for (; row + ROWS <= rows; row += ROWS) {
            RowLoop.addFour(dy + 4L * row * m, 4L * m, dBias, columns);
        }
        for (; row < rows; row++) {
            RowLoop.add(dy + 4L * row * m, dBias, columns);
        }
    }
}
