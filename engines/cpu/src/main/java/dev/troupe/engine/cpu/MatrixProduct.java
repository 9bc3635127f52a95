package dev.troupe.engine.cpu;

/**
 * Matrix products by oneDNN. A product of some size is cut into panels, along its rows or its columns, whichever are more:
 * oneDNN packs one operand again for each panel, and that way it is the smaller one. How it is cut follows from the shape
 * alone, so a product has the same bits for any number of threads.
 */
final class MatrixProduct {
    /** Multiplications worth a panel: some 150 microseconds of one thread, many times what it takes to wake a helper. */
    private static final long PANEL_MULTIPLICATIONS = 1L << 24;
    private static final int MOST_PANELS = 8;
    /** Panels begin at multiples of it, where oneDNN's own blocks do. */
    private static final int STEP = 48;

    /** What is done with a rectangle of the product, at an address, as soon as it is there, by that member of the crew. */
    @FunctionalInterface
    interface Finish {
        void finish(int firstRow, int rows, int firstColumn, int columns, int member);
    }

    private MatrixProduct() {
    }

    /** {@code c (+)= op(a) op(b)}: a [m x k] or its transpose, b [k x n] or its transpose, c [m x n], at addresses. */
    static void multiply(Crew crew, long a, boolean transposeA, long b, boolean transposeB, long c, int m, int k,
            int n, boolean accumulate, Finish finish) {
        float beta = accumulate ? 1 : 0;
        long aStride = transposeA ? m : k;
        long bStride = transposeB ? k : n;
        if (m >= n) {
            crew.share(m, panel(m, k, n), (from, count, member) -> {
                OneDnn.sgemm(transposeA, transposeB, count, n, k, 1, a + 4 * from * (transposeA ? 1 : aStride),
                        aStride, b, bStride, beta, c + 4 * from * n, n);
                if (finish != null) {
                    finish.finish((int) from, count, 0, n, member);
                }
            });
        } else {
            crew.share(n, panel(n, k, m), (from, count, member) -> {
                OneDnn.sgemm(transposeA, transposeB, m, count, k, 1, a, aStride,
                        b + 4 * from * (transposeB ? bStride : 1), bStride, beta, c + 4 * from, n);
                if (finish != null) {
                    finish.finish(0, m, (int) from, count, member);
                }
            });
        }
    }

    /** How many of the {@code longer} rows or columns make a panel. */
    private static int panel(int longer, int k, int shorter) {
        long panels = Math.clamp((long) longer * k * shorter / PANEL_MULTIPLICATIONS, 1, MOST_PANELS);
        int even = (int) ((longer + panels - 1) / panels);
        return Math.min(longer, (even + STEP - 1) / STEP * STEP);
    }
}
