package dev.troupe.engine.cpu.library;

/**
 * A library's product of float32 matrices.
 *
 * <p>Thread rule: any thread. The calling thread alone computes a product.
 */
@FunctionalInterface
public interface Sgemm {
    /**
     * {@code c = alpha op(a) op(b) + beta c} for row-major matrices at native addresses. With a beta of 0, c is not read.
     *
     * @param m rows of op(a) and c
     * @param n columns of op(b) and c
     * @param k columns of op(a), rows of op(b)
     * @param aStride elements from one stored row of a to the next; likewise the others
     */
    void multiply(boolean transposeA, boolean transposeB, long m, long n, long k, float alpha, long a, long aStride,
            long b, long bStride, float beta, long c, long cStride);
}
