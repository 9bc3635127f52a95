package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.Dnnl;
import dev.troupe.engine.cpu.library.Primitive;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * Products with float32 results of operands that change before their next use and are read in place, such as the heads of
 * attention. One primitive is kept per size, factor and stride.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class InPlaceProducts implements Sgemm, AutoCloseable {
    // Searched from the beginning: attention repeats a few for each length of a sequence.
    private final List<Sized> known = new ArrayList<>();
    private final GrowingMemory scratch = new GrowingMemory(1);
    private final DataType type;

    /** The order and the strides of a product's matrices, in elements. */
    private record Layout(boolean transposeA, long aStride, boolean transposeB, long bStride, long cStride) {
        boolean is(boolean transposesA, long strideOfA, boolean transposesB, long strideOfB, long strideOfC) {
            return transposeA == transposesA && aStride == strideOfA && transposeB == transposesB
                    && bStride == strideOfB && cStride == strideOfC;
        }
    }

    /** A primitive with the product that it was made for. */
    private record Sized(Primitive primitive, Layout layout, long m, long n, long k, float alpha, boolean added)
            implements
                AutoCloseable {
        boolean is(long rows, long columns, long depth, float factor, boolean adds) {
            return m == rows && n == columns && k == depth && alpha == factor && added == adds;
        }

        @Override
        public void close() {
            primitive.close();
        }
    }

    /**
     * Creates the products of operands of a type.
     *
     * @param type FLOAT32, or BFLOAT16 on a processor with units for it
     */
    public InPlaceProducts(DataType type) {
        this.type = type;
    }

    /** C is of float32; beta is 0 or 1. */
    @Override
    public void multiply(boolean transposeA, boolean transposeB, long m, long n, long k, float alpha, long a,
            long aStride, long b, long bStride, float beta, long c, long cStride) {
        Primitive primitive = primitive(transposeA, transposeB, m, n, k, alpha, aStride, bStride, beta != 0, cStride);
        primitive.set(0, a);
        primitive.set(1, b);
        primitive.set(2, c);
        primitive.set(3, scratch.of(0));
        primitive.execute();
    }

    private Primitive primitive(boolean transposeA, boolean transposeB, long m, long n, long k, float alpha,
            long aStride, long bStride, boolean added, long cStride) {
        for (int i = 0; i < known.size(); i++) {
            Sized one = known.get(i);
            if (one.is(m, n, k, alpha, added)
                    && one.layout.is(transposeA, aStride, transposeB, bStride, cStride)) {
                return one.primitive;
            }
        }
        long a = Dnnl.descriptor(type, m, k, transposeA, aStride);
        long b = Dnnl.descriptor(type, k, n, transposeB, bStride);
        long c = Dnnl.descriptor(DataType.FLOAT32, m, n, false, cStride);
        long plan = Dnnl.matmulPlan(a, b, 0, c, alpha, added);
        long scratchpad = Dnnl.scratchpadOf(plan);
        scratch.require(Dnnl.bytes(scratchpad));
        Primitive made = new Primitive(plan,
                new int[]{Dnnl.SOURCE, Dnnl.WEIGHTS, Dnnl.DESTINATION, Dnnl.SCRATCHPAD},
                new long[]{a, b, c, scratchpad});
        Dnnl.destroyPlan(plan);
        for (long descriptor : new long[]{a, b, c}) {
            Dnnl.destroyDescriptor(descriptor);
        }
        known.add(new Sized(made, new Layout(transposeA, aStride, transposeB, bStride, cStride), m, n, k, alpha,
                added));
        return made;
    }

    @Override
    public void close() {
        known.forEach(Sized::close);
        scratch.close();
    }
}
