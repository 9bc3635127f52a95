package dev.troupe.engine.cpu;

import dev.troupe.engine.Engine;

/** Token plus position embedding. Letters: N rows, T sequence length, C hidden size, V vocabulary size. */
final class Embedding {
    /** In place of the address of a table that is not there. */
    static final long NO_TABLE = 0;

    private Embedding() {
    }

    /**
     * The rows {@code from} to {@code from + rows - 1} of y: tokens [N], tokenTable [V x C], positionTable [T x C] or
     * {@link #NO_TABLE}.
     */
    static void forward(long tokens, long tokenTable, long positionTable, int t, long y, int c, int from, int rows) {
        for (int row = from; row < from + rows; row++) {
            int id = Lanes.getInt(tokens, row);
            long token = tokenTable + 4L * id * c;
            long position = positionTable + 4L * (row % t) * c;
            long to = y + 4L * row * c;
            if (id != Engine.ELSEWHERE && positionTable != NO_TABLE) {
                Elementwise.add(token, position, to, c);
            } else if (id != Engine.ELSEWHERE) {
                Elementwise.copy(token, to, c);
            } else if (positionTable != NO_TABLE) {
                Elementwise.copy(position, to, c);
            } else {
                Elementwise.fill(to, 0, c);
            }
        }
    }

    /** Adds some columns of all N rows of dy, in their order; dy and the tables point to the first of these columns. */
    static void backward(long tokens, long dy, int n, int t, long dTokenTable, long dPositionTable, int c,
            int columns) {
        for (int row = 0; row < n; row++) {
            long gradient = dy + 4L * row * c;
            int id = Lanes.getInt(tokens, row);
            if (id != Engine.ELSEWHERE) {
                long token = dTokenTable + 4L * id * c;
                Elementwise.add(token, gradient, token, columns);
            }
            long position = dPositionTable + 4L * (row % t) * c;
            Elementwise.add(position, gradient, position, columns);
        }
    }
}
