package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;

/**
 * How the right side b [k x n] of large products is packed: in the blocks that oneDNN's matmul likes best for this size.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Packing implements AutoCloseable {
    private final DataType type;
    private final boolean transposed;
    private final int k;
    private final int n;
    private final long descriptor;
    private final Primitive reorder;

    /**
     * The packing for panels of so many rows; other panels take it as well.
     *
     * @param type
     *            of both sides
     * @param transposed
     *            whether b is given as [n x k]
     */
    Packing(DataType type, boolean transposed, int k, int n, int rows) {
        this.type = type;
        this.transposed = transposed;
        this.k = k;
        this.n = n;
        long a = Dnnl.descriptor(type, rows, k, false, k);
        long any = Dnnl.anyDescriptor(type, k, n);
        long c = Dnnl.descriptor(type, rows, n, false, n);
        long product = Dnnl.matmulPlan(a, any, 0, c, false);
        descriptor = Dnnl.weightsOf(product);
        long plain = Dnnl.descriptor(type, k, n, transposed, transposed ? k : n);
        long plan = Dnnl.reorderPlan(plain, descriptor);
        reorder = new Primitive(plan, new int[]{Dnnl.SOURCE, Dnnl.DESTINATION}, new long[]{plain, descriptor});
        Dnnl.destroyPlan(product);
        Dnnl.destroyPlan(plan);
        for (long made : new long[]{a, any, c, plain}) {
            Dnnl.destroyDescriptor(made);
        }
    }

    boolean serves(DataType asked, boolean transposedB, int rows, int columns) {
        return type == asked && transposed == transposedB && k == rows && n == columns;
    }

    /** Of both sides. */
    DataType type() {
        return type;
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
