package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;

/** A bias added to rows, and its gradient. */
final class Bias {
    /** Rows that are added up before their sum goes to the gradient. */
    private static final int ROWS = 4;

    private Bias() {
    }

    /** Adds {@code bias} to a row. */
    static void add(long bias, long row, int count) {
        Elementwise.add(row, bias, row, count);
    }

    /** Adds the sums of columns of dy to dBias; both addresses are those of the first column, rows lie m apart. */
    static void backward(long dy, int rows, int m, long dBias, int columns) {
        int row = 0;
        for (; row + ROWS <= rows; row += ROWS) {
            addRows(dy + 4L * row * m, m, dBias, columns);
        }
        for (; row < rows; row++) {
            Elementwise.add(dBias, dy + 4L * row * m, dBias, columns);
        }
    }

    private static void addRows(long dy, int m, long dBias, int columns) {
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
