package dev.troupe.engine.cpu;

/**
 * How the right side b [k x n] of large products is packed: in the blocks that oneDNN's matmul likes best for this size.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Packing implements AutoCloseable {
    private final boolean transposed;
    private final int k;
    private final int n;
    private final long descriptor;
    private final Primitive reorder;

    /**
     * The packing for panels of so many rows; other panels take it as well.
     *
     * @param transposed
     *            whether b is given as [n x k]
     */
    Packing(boolean transposed, int k, int n, int rows) {
        this.transposed = transposed;
        this.k = k;
        this.n = n;
        long a = Dnnl.descriptor(rows, k, false, k);
        long any = Dnnl.anyDescriptor(k, n);
        long c = Dnnl.descriptor(rows, n, false, n);
        long product = Dnnl.matmulPlan(a, any, c, false);
        descriptor = Dnnl.weightsOf(product);
        long plain = Dnnl.descriptor(k, n, transposed, transposed ? k : n);
        long plan = Dnnl.reorderPlan(plain, descriptor);
        reorder = new Primitive(plan, new int[]{Dnnl.SOURCE, Dnnl.DESTINATION}, new long[]{plain, descriptor});
        Dnnl.destroyPlan(product);
        Dnnl.destroyPlan(plan);
        for (long made : new long[]{a, any, c, plain}) {
            Dnnl.destroyDescriptor(made);
        }
    }

    boolean serves(boolean transposedB, int rows, int columns) {
        return transposed == transposedB && k == rows && n == columns;
    }

    /** Of a packed b; it is this packing's. */
    long descriptor() {
        return descriptor;
    }

    /** Of a packed b. */
    long bytes() {
        return Dnnl.bytes(descriptor);
    }

    /** Packs b from one address to another. */
    void pack(long b, long packed) {
        reorder.set(0, b);
        reorder.set(1, packed);
        reorder.execute();
    }

    @Override
    public void close() {
        reorder.close();
        Dnnl.destroyDescriptor(descriptor);
    }
}
