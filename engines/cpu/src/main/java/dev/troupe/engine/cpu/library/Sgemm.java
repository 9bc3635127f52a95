package dev.troupe.engine.cpu.library;

/**
 * The product of float32 matrices of some library.
 *
 * <p>Thread rule: any thread. The thread that asks for a product computes it, and no other does.
 */
@FunctionalInterface
public interface Sgemm {
    /**
     * {@code c = alpha op(a) op(b) + beta c} of row-major matrices at native addresses. With a beta of 0, c is not read.
     *
     * @param m rows of op(a) and c
     * @param n columns of op(b) and c
     * @param k columns of op(a), rows of op(b)
     * @param aStride elements from one row of a, as it is stored, to the next; likewise the others
     */
    void multiply(boolean transposeA, boolean transposeB, long m, long n, long k, float alpha, long a, long aStride,
            long b, long bStride, float beta, long c, long cStride);
}
