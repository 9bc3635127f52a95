package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.Dnnl;
import dev.troupe.engine.cpu.library.Primitive;

/**
 * Products of a fixed number of rows: a [rows x k] or some columns of its transpose, a packed b [k x n], and a bias [n] or
 * none; a primitive for each member of a pool.
 *
 * <p>Thread rule: each member calls with its own number.
 */
final class PackedPanels implements AutoCloseable {
    private final Packing packing;
    private final int rows;
    private final boolean transposed;
    private final int aStride;
    private final int cStride;
    private final DataType into;
    private final boolean biased;
    private final boolean added;
    private final Primitive[] primitives;
    private final long scratchBytes;

    PackedPanels(Packing packing, int rows, boolean transposed, int aStride, DataType into, int cStride,
            boolean biased, boolean added, int members) {
        int k = packing.k();
        int n = packing.n();
        this.packing = packing;
        this.rows = rows;
        this.transposed = transposed;
        this.aStride = aStride;
        this.into = into;
        this.cStride = cStride;
        this.biased = biased;
        this.added = added;
        long a = Dnnl.descriptor(packing.computing(), rows, k, transposed, aStride);
        long c = Dnnl.descriptor(into, rows, n, false, cStride);
        long bias = biased ? Dnnl.descriptor(DataType.FLOAT32, 1, n, false, n) : 0;
        long plan = Dnnl.matmulPlan(a, packing.descriptor(), bias, c, 1, added);
        long scratchpad = Dnnl.scratchpadOf(plan);
        scratchBytes = Dnnl.bytes(scratchpad);
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
        Dnnl.destroyPlan(plan);
        Dnnl.destroyDescriptor(a);
        Dnnl.destroyDescriptor(c);
        if (biased) {
            Dnnl.destroyDescriptor(bias);
        }
    }

    boolean serves(Packing right, int panelRows, boolean transposedA, int strideOfA, DataType product, int strideOfC,
            boolean withBias, boolean accumulate) {
        return packing == right && rows == panelRows && transposed == transposedA && aStride == strideOfA
                && into == product && cStride == strideOfC
                && biased == withBias && added == accumulate;
    }

    long scratchBytes() {
        return scratchBytes;
    }

    /** c (+)= a b + bias at addresses; the address of no bias is 0. */
    void multiply(int member, long a, long packedB, long bias, long c, long scratch) {
        Primitive primitive = primitives[member];
        primitive.set(0, a);
        primitive.set(1, packedB);
        primitive.set(2, c);
        primitive.set(3, scratch);
        if (biased) {
            primitive.set(4, bias);
        }
        primitive.execute();
    }

    @Override
    public void close() {
        for (Primitive primitive : primitives) {
            primitive.close();
        }
    }
}
