package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * Large products with a right side that is packed once for all rows; the packed copy of a parameter is kept until it
 * changes. {@code dnnl_sgemm} packs in every call, and again for each panel of a product.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class PackedProducts implements AutoCloseable {
    /** Rows of a panel, the unit of work of a pool. With fewer rows each load of the right side is used less often. */
    private static final int ROWS = 256;

    private final WorkerPool pool;
    // Searched from the beginning: training repeats the same few dozens.
    private final List<Packing> packings = new ArrayList<>();
    private final List<PackedPanels> panels = new ArrayList<>();
    private final GrowingMemory scratch;
    private final GrowingMemory packed = new GrowingMemory(1);
    /** Scratch memory for panels that are multiplied in a wider type. */
    private final GrowingMemory wide;

    PackedProducts(WorkerPool pool) {
        this.pool = pool;
        this.scratch = new GrowingMemory(pool.threads());
        this.wide = new GrowingMemory(pool.threads());
    }

    /** As {@link MatrixProduct#multiply}; rectangles are whole rows. */
    void multiply(CpuTensor a, boolean transposeA, CpuTensor b, boolean transposeB, CpuTensor c, int k,
            boolean accumulate, long bias, MatrixProduct.Finish finish) {
        int m = c.size(0);
        int n = c.size(1);
        Packing packing = packing(a.dataType(), transposeB, k, n);
        PackedPanels whole = panels(packing, k, n, Math.min(ROWS, m), transposeA, m, c.dataType(), bias != 0,
                accumulate);
        PackedPanels last = m % ROWS == 0
                ? whole
                : panels(packing, k, n, m % ROWS, transposeA, m, c.dataType(), bias != 0, accumulate);
        long right = packed(b, packing);
        long leftBytes = packing.widens() ? leftBytes(m, k) : 0;
        if (packing.widens()) {
            wide.require(leftBytes + productBytes(m, n, c.dataType()));
        }
        pool.share(m, ROWS, (from, rows, member) -> {
            PackedPanels panel = rows == ROWS ? whole : last;
            if (packing.widens()) {
                long left = wide.of(member);
                widen(a, transposeA, (int) from, rows, k, left);
                long product = c.target(from * n, left + leftBytes);
                panel.multiply(member, left, right, bias, product, scratch.of(member));
                for (int row = 0; c.isNarrow() && row < rows; row++) {
                    c.written((from + row) * n, n, product + (long) Float.BYTES * row * n);
                }
            } else {
                panel.multiply(member, a.addressOf(from * (transposeA ? 1 : k)), right, bias, c.addressOf(from * n),
                        scratch.of(member));
            }
            if (finish != null) {
                finish.finish((int) from, rows, 0, n, member);
            }
        });
    }

    /** A panel of a [m x k], or of its transpose, as dense floats. */
    private static void widen(CpuTensor a, boolean transposed, int from, int rows, int k, long to) {
        int m = a.size(transposed ? 1 : 0);
        int runs = transposed ? k : rows;
        int run = transposed ? rows : k;
        for (int i = 0; i < runs; i++) {
            long first = transposed ? (long) i * m + from : (long) (from + i) * k;
            RowLoop.widen(a.addressOf(first), to + (long) Float.BYTES * i * run, run);
        }
    }

    /** Bytes of a panel's widened left side, up to the beginning of the product. */
    private static long leftBytes(long m, long k) {
        return Math.ceilDiv(Float.BYTES * Math.min(ROWS, m) * k, Lanes.ALIGNMENT) * Lanes.ALIGNMENT;
    }

    /** Bytes of a panel's product before rounding; 0 without rounding. */
    private static long productBytes(long m, long n, DataType product) {
        return product == DataType.FLOAT32 ? 0 : Float.BYTES * Math.min(ROWS, m) * n;
    }

    /**
     * Bytes of scratch memory for a product, without oneDNN's own: a right side that is not kept, and widened panels.
     *
     * @param isKept whether the right side is a range, of which a packed copy is kept
     */
    static long scratchBytes(DataType type, DataType product, long m, long k, long n, boolean isKept, int threads) {
        DataType computing = BfloatUnits.computing(type);
        long panels = Math.max(Packing.wideBytes(n), leftBytes(m, k) + productBytes(m, n, product));
        return (isKept ? 0 : computing.elementBytes() * k * n) + (computing == type ? 0 : panels * threads);
    }

    /** A parameter is a range, of which a packed copy is kept; other operands change before their next use. */
    private long packed(CpuTensor b, Packing packing) {
        if (b.keepsCopies()) {
            return b.packed(packing);
        }
        packed.require(packing.bytes());
        packing.pack(b.address(), packed.of(0));
        return packed.of(0);
    }

    private Packing packing(DataType type, boolean transposeB, int k, int n) {
        for (int i = 0; i < packings.size(); i++) {
            if (packings.get(i).serves(type, transposeB, k, n)) {
                return packings.get(i);
            }
        }
        packings.add(
                new Packing(pool, type, BfloatUnits.computing(type), wide, transposeB, k, n, transposeB ? k : n, ROWS));
        return packings.getLast();
    }

    private PackedPanels panels(Packing packing, int k, int n, int rows, boolean transposeA, int m,
            DataType product, boolean biased, boolean accumulate) {
        boolean widens = packing.widens();
        int aStride = !transposeA ? k : widens ? rows : m;
        DataType into = widens ? packing.computing() : product;
        for (int i = 0; i < panels.size(); i++) {
            if (panels.get(i).serves(packing, rows, transposeA, aStride, into, n, biased, accumulate)) {
                return panels.get(i);
            }
        }
        PackedPanels made = new PackedPanels(packing, rows, transposeA, aStride, into, n, biased, accumulate,
                pool.threads());
        scratch.require(made.scratchBytes());
        panels.add(made);
        return made;
    }

    @Override
    public void close() {
        panels.forEach(PackedPanels::close);
        packings.forEach(Packing::close);
        scratch.close();
        packed.close();
        wide.close();
    }
}
