package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.kernel.Bias;
import dev.troupe.engine.cpu.library.OneDnn;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuTensor;

/**
 * Matrix products by oneDNN: the large ones and those of bfloat16 by {@link PackedProducts}, the others by
 * {@code dnnl_sgemm}, which needs no preparation. A product of some size is cut into panels; where oneDNN packs an
 * operand again for each panel, along its rows or its columns, whichever are more, so that it is the smaller one. How
 * it is cut follows from the shape alone, so a product has the same bits for any number of threads.
 */
public final class MatrixProduct implements AutoCloseable {
    /** Multiplications from which on packing gains more than it costs. */
    private static final long PACKED_MULTIPLICATIONS = 1L << 27;
    /** Multiplications worth a panel: some 150 microseconds of one thread, many times what it takes to wake a helper. */
    private static final long PANEL_MULTIPLICATIONS = 1L << 24;
    private static final int MOST_PANELS = 8;
    /** Panels begin at multiples of it, where oneDNN's own blocks do. */
    private static final int STEP = 48;

    /** What is done with a rectangle of the product, at an address, as soon as it is there, by that member of the pool. */
    @FunctionalInterface
    public interface Finish {
        void finish(int firstRow, int rows, int firstColumn, int columns, int member);
    }

    private final WorkerPool pool;
    private final PackedProducts packed;

    public MatrixProduct(WorkerPool pool) {
        this.pool = pool;
        this.packed = new PackedProducts(pool);
    }

    /**
     * {@code c (+)= op(a) op(b)}: a [m x k] or its transpose, b [k x n] or its transpose, c [m x n]. Where a and b are of
     * bfloat16 and c is not, it is not rounded.
     *
     * @param bias
     *            added to each row of a product that is not accumulated; 0 for none
     * @param finish
     *            null for nothing to be done
     */
    public void multiply(CpuTensor a, boolean transposeA, CpuTensor b, boolean transposeB, CpuTensor c, int k,
            boolean accumulate, long bias, Finish finish) {
        int m = c.size(0);
        int n = c.size(1);
        if (isPacked(a.dataType(), m, (long) k * n)) {
            packed.multiply(a, transposeA, b, transposeB, c, k, accumulate, bias, finish);
            return;
        }
        long aStride = transposeA ? m : k;
        long bStride = transposeB ? k : n;
        long aStep = transposeA ? 1 : aStride;
        long bStep = transposeB ? bStride : 1;
        long left = a.address();
        long right = b.address();
        long to = c.address();
        boolean tall = m >= n;
        pool.share(tall ? m : n, panel(tall ? m : n, k, tall ? n : m), (from, count, member) -> {
            int row = tall ? (int) from : 0;
            int column = tall ? 0 : (int) from;
            int rows = tall ? count : m;
            int columns = tall ? n : count;
            OneDnn.sgemm(transposeA, transposeB, rows, columns, k, 1, left + 4 * row * aStep, aStride,
                    right + 4 * column * bStep, bStride, accumulate ? 1 : 0, to + 4 * ((long) row * n + column), n);
            for (int i = row; bias != 0 && i < row + rows; i++) {
                Bias.add(bias + 4L * column, to + 4 * ((long) i * n + column), columns);
            }
            if (finish != null) {
                finish.finish(row, rows, column, columns, member);
            }
        });
    }

    /** Whether the right side of a product of so many rows is packed, by its number of elements. */
    public static boolean isPacked(DataType type, long rows, long rightElements) {
        return type == DataType.BFLOAT16 || rows * rightElements >= PACKED_MULTIPLICATIONS;
    }

    /**
     * Bytes of scratch memory for a product [m x k] [k x n], as {@link PackedProducts#scratchBytes}; {@code dnnl_sgemm} has
     * its own.
     */
    public static long scratchBytes(DataType type, DataType product, long m, long k, long n, boolean isKept,
            int threads) {
        return isPacked(type, m, k * n) ? PackedProducts.scratchBytes(type, product, m, k, n, isKept, threads) : 0;
    }

    /** How many of the {@code longer} rows or columns make a panel. */
    private static int panel(int longer, int k, int shorter) {
        long panels = Math.clamp((long) longer * k * shorter / PANEL_MULTIPLICATIONS, 1, MOST_PANELS);
        int even = (int) ((longer + panels - 1) / panels);
        return Math.min(longer, (even + STEP - 1) / STEP * STEP);
    }

    @Override
    public void close() {
        packed.close();
    }
}
