package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.Engine;
import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.memory.CpuTensor;

/** Token plus position embedding. Letters: N rows, T sequence length, C hidden size, V vocabulary size. */
public final class Embedding {
    /** The address of a table that does not exist. */
    public static final long NO_TABLE = 0;

    private Embedding() {
    }

    /** Bytes of scratch memory: one row of {@code columns} columns. */
    public static long scratchBytes(int columns) {
        return 4L * columns;
    }

    /**
     * The rows {@code from} to {@code from + rows - 1} of y [N x C]: tokens [N], tokenTable [V x C], positionTable [T x C]
     * or {@link #NO_TABLE}.
     */
    public static void forward(long tokens, long tokenTable, long positionTable, int t, CpuTensor y, int from, int rows,
            long scratch) {
        int c = y.size(1);
        for (int row = from; row < from + rows; row++) {
            int id = Lanes.getInt(tokens, row);
            long token = tokenTable + 4L * id * c;
            long position = positionTable + 4L * (row % t) * c;
            long to = y.target((long) row * c, scratch);
            if (id != Engine.NOT_IN_SHARD && positionTable != NO_TABLE) {
                Elements.add(token, position, to, c);
            } else if (id != Engine.NOT_IN_SHARD) {
                Elements.copy(token, to, c);
            } else if (positionTable != NO_TABLE) {
                Elements.copy(position, to, c);
            } else {
                Elements.fill(to, 0, c);
            }
            y.written((long) row * c, c, to);
        }
    }

    /**
     * Adds some columns of all rows of dy [N x C], in their order. The tables point to the first of these columns; the
     * second may be {@link #NO_TABLE}.
     */
    public static void backward(long tokens, CpuTensor dy, int t, long dTokenTable, long dPositionTable, int first,
            int columns, long scratch) {
        int c = dy.size(1);
        for (int row = 0; row < dy.size(0); row++) {
            long gradient = dy.read((long) row * c + first, columns, scratch);
            int id = Lanes.getInt(tokens, row);
            if (id != Engine.NOT_IN_SHARD) {
                long token = dTokenTable + 4L * id * c;
                Elements.add(token, gradient, token, columns);
            }
            if (dPositionTable != NO_TABLE) {
                long position = dPositionTable + 4L * (row % t) * c;
                Elements.add(position, gradient, position, columns);
            }
        }
    }
}
