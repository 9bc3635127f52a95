package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;

/**
 * How the right side b [k x n] of large products is packed: in the blocks that oneDNN's matmul likes best for this size.
 * Each member of a crew packs some rows.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Packing implements AutoCloseable {
    /** Rows that are packed together: a multiple of the rows of any block. */
    private static final int ROWS = 64;

    private final Crew crew;
    private final DataType type;
    private final boolean transposed;
    private final int k;
    private final int n;
    private final long descriptor;
    private final Primitive[] reorders;

    /**
     * The packing for panels of so many rows; other panels take it as well.
     *
     * @param crew
     *            who packs
     * @param type
     *            of both sides
     * @param transposed
     *            whether b is given as [n x k]
     */
    Packing(Crew crew, DataType type, boolean transposed, int k, int n, int rows) {
        this.crew = crew;
        this.type = type;
        this.transposed = transposed;
        this.k = k;
        this.n = n;
        long a = Dnnl.descriptor(type, rows, k, false, k);
        long any = Dnnl.anyDescriptor(type, k, n);
        long c = Dnnl.descriptor(type, rows, n, false, n);
        long product = Dnnl.matmulPlan(a, any, 0, c, false);
        descriptor = Dnnl.weightsOf(product);
        Dnnl.destroyPlan(product);
        for (long made : new long[]{a, any, c}) {
            Dnnl.destroyDescriptor(made);
        }
        reorders = new Primitive[Math.ceilDiv(k, ROWS)];
        for (int part = 0; part < reorders.length; part++) {
            reorders[part] = reorder(part * ROWS, Math.min(ROWS, k - part * ROWS));
        }
    }

    private Primitive reorder(int first, int count) {
        long plain = Dnnl.descriptor(type, count, n, transposed, transposed ? k : n);
        long packed = Dnnl.rowsOf(descriptor, first, count, n);
        long plan = Dnnl.reorderPlan(plain, packed);
        Primitive reorder = new Primitive(plan, new int[]{Dnnl.SOURCE, Dnnl.DESTINATION}, new long[]{plain, packed});
        Dnnl.destroyPlan(plan);
        Dnnl.destroyDescriptor(plain);
        Dnnl.destroyDescriptor(packed);
        return reorder;
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
        long rowBytes = (long) type.elementBytes() * (transposed ? 1 : n);
        crew.share(reorders.length, 1, (part, count, member) -> {
            Primitive reorder = reorders[(int) part];
            reorder.set(0, b + part * ROWS * rowBytes);
            reorder.set(1, packed);
            reorder.execute();
        });
    }

    @Override
    public void close() {
        for (Primitive reorder : reorders) {
            reorder.close();
        }
        Dnnl.destroyDescriptor(descriptor);
    }
}
