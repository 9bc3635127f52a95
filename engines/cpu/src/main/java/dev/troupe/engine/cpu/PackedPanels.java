package dev.troupe.engine.cpu;

/**
 * Products of so many rows, a [rows x k] or some columns of its transpose, with a packed b [k x n]: a primitive for each
 * member of a crew.
 *
 * <p>Thread rule: each member calls in its own name.
 */
final class PackedPanels implements AutoCloseable {
    private final Packing packing;
    private final int rows;
    private final boolean transposed;
    private final int aStride;
    private final boolean added;
    private final Primitive[] primitives;
    private final long scratchBytes;

    PackedPanels(Packing packing, int k, int n, int rows, boolean transposed, int aStride, boolean added, int members) {
        this.packing = packing;
        this.rows = rows;
        this.transposed = transposed;
        this.aStride = aStride;
        this.added = added;
        long a = Dnnl.descriptor(rows, k, transposed, aStride);
        long c = Dnnl.descriptor(rows, n, false, n);
        long plan = Dnnl.matmulPlan(a, packing.descriptor(), c, added);
        long scratchpad = Dnnl.scratchpadOf(plan);
        scratchBytes = Dnnl.bytes(scratchpad);
        primitives = new Primitive[members];
        for (int member = 0; member < members; member++) {
            primitives[member] = new Primitive(plan,
                    new int[]{Dnnl.SOURCE, Dnnl.WEIGHTS, Dnnl.DESTINATION, Dnnl.SCRATCHPAD},
                    new long[]{a, packing.descriptor(), c, scratchpad});
        }
        Dnnl.destroyPlan(plan);
        Dnnl.destroyDescriptor(a);
        Dnnl.destroyDescriptor(c);
    }

    boolean serves(Packing right, int panelRows, boolean transposedA, int stride, boolean accumulate) {
        return packing == right && rows == panelRows && transposed == transposedA && aStride == stride
                && added == accumulate;
    }

    /** Bytes of scratch memory that a call needs. */
    long scratchBytes() {
        return scratchBytes;
    }

    /** c (+)= a b at addresses. */
    void multiply(int member, long a, long packedB, long c, long scratch) {
        Primitive primitive = primitives[member];
        primitive.set(0, a);
        primitive.set(1, packedB);
        primitive.set(2, c);
        primitive.set(3, scratch);
        primitive.execute();
    }

    @Override
    public void close() {
        for (Primitive primitive : primitives) {
            primitive.close();
        }
    }
}
