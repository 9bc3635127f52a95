package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.Dnnl;
import dev.troupe.engine.cpu.library.Primitive;
import dev.troupe.engine.cpu.loop.Lanes;

/**
 * Products of a fixed number of rows: a [rows x k] or some columns of its transpose, a packed b [k x n], and a bias [n] or
 * none; a primitive for each member of a pool.
 *
 * <p>Columns of a transpose in bfloat16 are copied to rows first: on units of bfloat16, oneDNN takes about twice as long for
 * a transposed left side as for the copy and the product of its rows.
 *
 * <p>Thread rule: each member calls with its own number.
 */
final class PackedPanels implements AutoCloseable {
    private final Packing packing;
    private final int rows;
    private final boolean transposed;
    private final int aStride;
    private final DataType into;
    private final boolean biased;
    private final boolean added;
    private final Primitive[] primitives;
    /** Copies of columns to rows; empty if products read a as it is stored. */
    private final Primitive[] copies;
    private final long copyBytes;
    private final long scratchBytes;

    PackedPanels(Packing packing, int k, int n, int rows, boolean transposed, int aStride, DataType into,
            boolean biased, boolean added, int members) {
        this.packing = packing;
        this.rows = rows;
        this.transposed = transposed;
        this.aStride = aStride;
        this.into = into;
        this.biased = biased;
        this.added = added;
        boolean copied = copies(packing.computing(), transposed);
        copies = new Primitive[copied ? members : 0];
        copyBytes = copied ? copyBytes(rows, k) : 0;
        long a = copied
                ? Dnnl.descriptor(packing.computing(), rows, k, false, k)
                : Dnnl.descriptor(packing.computing(), rows, k, transposed, aStride);
        long c = Dnnl.descriptor(into, rows, n, false, n);
        long bias = biased ? Dnnl.descriptor(DataType.FLOAT32, 1, n, false, n) : 0;
        long plan = Dnnl.matmulPlan(a, packing.descriptor(), bias, c, 1, added);
        long scratchpad = Dnnl.scratchpadOf(plan);
        scratchBytes = copyBytes + Dnnl.bytes(scratchpad);
        primitives = new Primitive[members];
        for (int member = 0; member < members; member++) {
            primitives[member] = biased
                    ? new Primitive(plan,
                            new int[]{Dnnl.SOURCE, Dnnl.WEIGHTS, Dnnl.DESTINATION, Dnnl.SCRATCHPAD, Dnnl.BIAS},
                            new long[]{a, packing.descriptor(), c, scratchpad, bias})
                    : new Primitive(plan,
                            new int[]{Dnnl.SOURCE, Dnnl.WEIGHTS, Dnnl.DESTINATION, Dnnl.SCRATCHPAD},
                            new long[]{a, packing.descriptor(), c, scratchpad});
        }
        if (copied) {
            makeCopies(a, k);
        }
        Dnnl.destroyPlan(plan);
        Dnnl.destroyDescriptor(a);
        Dnnl.destroyDescriptor(c);
        if (biased) {
            Dnnl.destroyDescriptor(bias);
        }
    }

    /** Whether a left side is copied before it is multiplied. */
    static boolean copies(DataType computing, boolean transposed) {
        return transposed && computing == DataType.BFLOAT16;
    }

    /** Bytes of the copy, in whole lines of the cache. */
    static long copyBytes(long rows, long k) {
        return Math.ceilDiv(Short.BYTES * rows * k, Lanes.ALIGNMENT) * Lanes.ALIGNMENT;
    }

    private void makeCopies(long dense, int k) {
        long stored = Dnnl.descriptor(packing.computing(), rows, k, true, aStride);
        long plan = Dnnl.reorderPlan(stored, dense);
        for (int member = 0; member < copies.length; member++) {
            copies[member] = new Primitive(plan, new int[]{Dnnl.SOURCE, Dnnl.DESTINATION}, new long[]{stored, dense});
        }
        Dnnl.destroyPlan(plan);
        Dnnl.destroyDescriptor(stored);
    }

    boolean serves(Packing right, int panelRows, boolean transposedA, int stride, DataType product,
            boolean withBias, boolean accumulate) {
        return packing == right && rows == panelRows && transposed == transposedA && aStride == stride
                && into == product
                && biased == withBias && added == accumulate;
    }

    long scratchBytes() {
        return scratchBytes;
    }

    /** c (+)= a b + bias at addresses; the address of no bias is 0. */
    void multiply(int member, long a, long packedB, long bias, long c, long scratch) {
        Primitive primitive = primitives[member];
        primitive.set(0, copies.length > 0 ? copied(member, a, scratch) : a);
        primitive.set(1, packedB);
        primitive.set(2, c);
        primitive.set(3, scratch + copyBytes);
        if (biased) {
            primitive.set(4, bias);
        }
        primitive.execute();
    }

    private long copied(int member, long a, long to) {
        copies[member].set(0, a);
        copies[member].set(1, to);
        copies[member].execute();
        return to;
    }

    @Override
    public void close() {
        for (Primitive copy : copies) {
            copy.close();
        }
        for (Primitive primitive : primitives) {
            primitive.close();
        }
    }
}
