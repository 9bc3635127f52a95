package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.Dnnl;
import dev.troupe.engine.cpu.library.Primitive;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Products of bfloat16 with a transposed left side and float32 results, on units of bfloat16: gradients of weights. The left
 * side is copied to rows, since oneDNN takes about twice as long for a transposed one as for the copy and the product of its
 * rows. The right side is read in its place, by all rows at once: oneDNN orders some of it at a time in the cache, while a
 * packed copy of the whole has to be written to memory and read again.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class GradientProducts implements AutoCloseable {
    /** Rows that are copied together. */
    private static final int ROWS = 256;
    /** Elements of a panel of the product, the unit of work of a pool: 2 MiB, about a second cache. */
    private static final long PANEL_ELEMENTS = 1 << 19;
    /** With fewer columns the left side is read too often. */
    private static final int FEWEST_COLUMNS = 256;

    /** Panels begin at multiples of this number, as lines of the cache and oneDNN's blocks do. */
    private static final int STEP = 64;

    private final WorkerPool pool;
    private final List<InPlaceProducts> products;
    // Searched from the beginning: training repeats a few.
    private final List<Copy> copies = new ArrayList<>();
    private final GrowingMemory rows = new GrowingMemory(1);

    /** A copy of some columns of a matrix [k x m] to rows, for each member of the pool. */
    private record Copy(int count, int k, int m, List<Primitive> primitives) {
    }

    GradientProducts(WorkerPool pool) {
        this.pool = pool;
        this.products = Stream.generate(() -> new InPlaceProducts(DataType.BFLOAT16)).limit(pool.threads()).toList();
    }

    /** {@code c (+)= a^T op(b)}: a [k x m], c [m x n] of float32. */
    void multiply(CpuTensor a, CpuTensor b, boolean transposeB, CpuTensor c, int k, boolean accumulate) {
        int m = c.size(0);
        int n = c.size(1);
        rows.require(copyBytes(m, k));
        long left = rows.of(0);
        Copy whole = copy(Math.min(ROWS, m), k, m);
        Copy last = m % ROWS == 0 ? whole : copy(m % ROWS, k, m);
        pool.share(m, ROWS, (from, count, member) -> {
            Primitive copy = (count == ROWS ? whole : last).primitives.get(member);
            copy.set(0, a.addressOf(from));
            copy.set(1, left + Short.BYTES * from * k);
            copy.execute();
        });
        pool.share(n, columns(m, n),
                (column, count, member) -> products.get(member).multiply(false, transposeB, m, count,
                        k, 1, left, k, b.addressOf(column * (transposeB ? k : 1)), transposeB ? k : n,
                        accumulate ? 1 : 0,
                        c.addressOf(column), n));
    }

    /** The columns of a panel: at least two panels of large products, so that two members share them. */
    private static int columns(int m, int n) {
        long panels = Math.max(2, Math.ceilDiv((long) m * n, PANEL_ELEMENTS));
        int even = (int) Math.ceilDiv(n, panels);
        return Math.max(FEWEST_COLUMNS, Math.ceilDiv(even, STEP) * STEP);
    }

    /** Bytes of the copied left side. */
    static long copyBytes(long m, long k) {
        return Short.BYTES * m * k;
    }

    private Copy copy(int count, int k, int m) {
        for (int i = 0; i < copies.size(); i++) {
            Copy known = copies.get(i);
            if (known.count == count && known.k == k && known.m == m) {
                return known;
            }
        }
        long stored = Dnnl.descriptor(DataType.BFLOAT16, count, k, true, m);
        long dense = Dnnl.descriptor(DataType.BFLOAT16, count, k, false, k);
        long plan = Dnnl.reorderPlan(stored, dense);
        List<Primitive> made = Stream
                .generate(() -> new Primitive(plan, new int[]{Dnnl.SOURCE, Dnnl.DESTINATION},
                        new long[]{stored, dense}))
                .limit(pool.threads()).toList();
        Dnnl.destroyPlan(plan);
        Dnnl.destroyDescriptor(stored);
        Dnnl.destroyDescriptor(dense);
        copies.add(new Copy(count, k, m, made));
        return copies.getLast();
    }

    @Override
    public void close() {
        copies.forEach(copy -> copy.primitives.forEach(Primitive::close));
        products.forEach(InPlaceProducts::close);
        rows.close();
    }
}
