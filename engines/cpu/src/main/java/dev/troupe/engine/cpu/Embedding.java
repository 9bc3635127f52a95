package dev.troupe.engine.cpu;

/** Token plus position embedding. Letters: N rows, T sequence length, C hidden size, V vocabulary size. */
final class Embedding {
    private Embedding() {
    }

    /** The rows {@code from} to {@code from + rows - 1} of y: tokens [N], tokenTable [V x C], positionTable [T x C]. */
    static void forward(long tokens, long tokenTable, long positionTable, int t, long y, int c, int from, int rows) {
        for (int row = from; row < from + rows; row++) {
            Elementwise.add(tokenTable + 4L * Lanes.getInt(tokens, row) * c, positionTable + 4L * (row % t) * c,
                    y + 4L * row * c, c);
        }
    }

    /** Adds some columns of all N rows of dy, in their order; dy and the tables point to the first of these columns. */
    static void backward(long tokens, long dy, int n, int t, long dTokenTable, long dPositionTable, int c,
            int columns) {
        for (int row = 0; row < n; row++) {
            long gradient = dy + 4L * row * c;
            long token = dTokenTable + 4L * Lanes.getInt(tokens, row) * c;
            long position = dPositionTable + 4L * (row % t) * c;
            Elementwise.add(token, gradient, token, columns);
            Elementwise.add(position, gradient, position, columns);
        }
    }
}
