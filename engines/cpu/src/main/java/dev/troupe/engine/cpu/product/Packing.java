package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.Dnnl;
import dev.troupe.engine.cpu.library.Primitive;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import dev.troupe.engine.cpu.memory.Packer;

/**
 * The packing of the right side b [k x n] of large products, in the blocks and in the type that oneDNN's matmul prefers for
 * this size. Each member of a pool packs some rows.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Packing implements Packer, AutoCloseable {
    /** Rows that are packed together: a multiple of the rows of every block. */
    private static final int ROWS = 64;

    private final WorkerPool pool;
    private final DataType type;
    private final DataType computing;
    private final GrowingMemory wide;
    private final boolean transposed;
    private final int k;
    private final int n;
    private final int stored;
    private final long descriptor;
    private final Primitive[] reorders;

    /**
     * Creates the packing for panels of this number of rows; other panels can use it too.
     *
     * @param type of both sides
     * @param computing the type in which they are multiplied: theirs, or FLOAT32
     * @param wide scratch memory of the pool
     * @param transposed whether b is [n x k]
     * @param stored columns of the matrix of which b is some columns or, if transposed, some rows
     */
    Packing(WorkerPool pool, DataType type, DataType computing, GrowingMemory wide, boolean transposed, int k, int n,
            int stored,
            int rows) {
        this.pool = pool;
        this.type = type;
        this.computing = computing;
        this.wide = wide;
        this.transposed = transposed;
        this.k = k;
        this.n = n;
        this.stored = stored;
        long a = Dnnl.descriptor(computing, rows, k, false, k);
        long any = Dnnl.anyDescriptor(computing, k, n);
        long c = Dnnl.descriptor(computing, rows, n, false, n);
        long product = Dnnl.matmulPlan(a, any, 0, c, 1, false);
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
        int stride = !widens() ? stored : transposed ? count : n;
        long plain = Dnnl.descriptor(computing, count, n, transposed, stride);
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

    int k() {
        return k;
    }

    int n() {
        return n;
    }

    /** The type in which both sides are multiplied: theirs, or a wider one. */
    DataType computing() {
        return computing;
    }

    /** Whether both sides are widened before they are multiplied. */
    boolean widens() {
        return computing != type;
    }

    /** The descriptor of a packed b; this packing owns it. */
    long descriptor() {
        return descriptor;
    }

    @Override
    public long bytes() {
        return Dnnl.bytes(descriptor);
    }

    /** Bytes of scratch memory for widening on each thread that packs. */
    static long wideBytes(long n) {
        return Float.BYTES * ROWS * n;
    }

    @Override
    public void pack(long b, long packed) {
        if (widens()) {
            wide.require(wideBytes(n));
        }
        long rowBytes = (long) type.elementBytes() * (transposed ? 1 : stored);
        pool.share(reorders.length, 1, (part, count, member) -> {
            Primitive reorder = reorders[(int) part];
            long from = b + part * ROWS * rowBytes;
            reorder.set(0, widens() ? widened(from, (int) part, wide.of(member)) : from);
            reorder.set(1, packed);
            reorder.execute();
        });
    }

    /** The rows of a part as dense floats. */
    private long widened(long from, int part, long to) {
        int rows = Math.min(ROWS, k - part * ROWS);
        int runs = transposed ? n : rows;
        int run = transposed ? rows : n;
        for (int i = 0; i < runs; i++) {
            RowLoop.widen(from + (long) Short.BYTES * i * stored, to + (long) Float.BYTES * i * run, run);
        }
        return to;
    }

    @Override
    public void close() {
        for (Primitive reorder : reorders) {
            reorder.close();
        }
        Dnnl.destroyDescriptor(descriptor);
    }
}
