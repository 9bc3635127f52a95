package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import dev.troupe.engine.cpu.memory.Packer;
import java.util.ArrayList;
import java.util.List;

/**
 * Products with a packed right side, in which each row has the same bits whatever other rows there are, and wherever it is
 * among them. They are computed in panels of a few fixed numbers of rows, of which {@link RowTrial} has compared the bits,
 * and the last panel is filled up. The right side is cut into columns, so that a panel of a few rows has work for several
 * threads. The cut follows only from the right side's shape.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class RowProducts implements AutoCloseable {
    /** Rows of the largest panel. */
    static final int MOST = 256;
    /** Rows of the smallest panel: a tile of AMX. With fewer rows oneDNN adds up some products in another order. */
    static final int LEAST = 16;
    /** Elements of a part of the right side: some ten microseconds of work with 16 rows, and half a megabyte of floats. */
    private static final int PART_ELEMENTS = 1 << 17;
    /** Parts begin at multiples of this number, as lines of the cache and oneDNN's blocks do. */
    private static final int STEP = 64;

    /** The numbers of bfloat16 that units read together. */
    private static final int UNIT_DEPTH = 32;

    private final WorkerPool pool;
    // Searched from the beginning: a model repeats a few dozens.
    private final List<Side> sides = new ArrayList<>();
    private final GrowingMemory scratch;
    private final GrowingMemory packed = new GrowingMemory(1);
    /** Rows that are widened or filled up, and their product. */
    private final GrowingMemory apart;

    RowProducts(WorkerPool pool) {
        this.pool = pool;
        this.scratch = new GrowingMemory(pool.threads());
        this.apart = new GrowingMemory(pool.threads());
    }

    /** A right side [k x n] in parts of some columns; all but the last have the same number. */
    private final class Side implements Packer {
        private final DataType type;
        private final boolean transposed;
        private final int k;
        private final int n;
        private final int columns;
        private final int parts;
        private final Packing whole;
        private final Packing last;
        private final List<PackedPanels> panels = new ArrayList<>();

        Side(DataType type, boolean transposed, int k, int n) {
            this.type = type;
            this.transposed = transposed;
            this.k = k;
            this.n = n;
            columns = columns(k, n);
            parts = Math.ceilDiv(n, columns);
            whole = packing(Math.min(columns, n));
            last = n % columns == 0 || n < columns ? whole : packing(n % columns);
        }

        private Packing packing(int width) {
            return new Packing(pool, type, computing(type, k), apart, transposed, k, width, transposed ? k : n, MOST);
        }

        boolean serves(DataType asked, boolean transposedB, int rows, int width) {
            return type == asked && transposed == transposedB && k == rows && n == width;
        }

        private Packing packing(boolean isLast) {
            return isLast ? last : whole;
        }

        @Override
        public long bytes() {
            return (parts - 1) * aligned(whole.bytes()) + last.bytes();
        }

        @Override
        public void pack(long from, long to) {
            for (int part = 0; part < parts; part++) {
                long first = (long) part * columns * type.elementBytes() * (transposed ? k : 1);
                packing(part == parts - 1).pack(from + first, partOf(to, part));
            }
        }

        long partOf(long right, int part) {
            return right + part * aligned(whole.bytes());
        }

        PackedPanels panels(boolean isLast, int rows, DataType into, int stride, boolean biased, boolean added) {
            Packing packing = packing(isLast);
            for (int i = 0; i < panels.size(); i++) {
                if (panels.get(i).serves(packing, rows, false, k, into, stride, biased, added)) {
                    return panels.get(i);
                }
            }
            PackedPanels made = new PackedPanels(packing, rows, false, k, into, stride, biased, added,
                    pool.threads());
            scratch.require(made.scratchBytes());
            panels.add(made);
            return made;
        }

        void close() {
            panels.forEach(PackedPanels::close);
            whole.close();
            if (last != whole) {
                last.close();
            }
        }
    }

    /** As {@link MatrixProduct#multiply}, with a left side that is not transposed. */
    void multiply(CpuTensor a, CpuTensor b, boolean transposeB, CpuTensor c, int k, boolean accumulate, long bias,
            MatrixProduct.Finish finish) {
        int m = c.size(0);
        int n = c.size(1);
        Side side = side(a.dataType(), transposeB, k, n);
        boolean widens = side.whole.widens();
        DataType into = widens ? DataType.FLOAT32 : c.dataType();
        int panelCount = panelCount(m);
        for (int panel = 0; panel < panelCount; panel++) {
            int rows = rowsOf(m, panel);
            boolean isApart = firstOf(m, panel) + rows > m || into != c.dataType();
            for (int part = Math.max(0, side.parts - 2); part < side.parts; part++) {
                boolean isLast = part == side.parts - 1;
                side.panels(isLast, rows, into, isApart ? width(side, part) : n, bias != 0, accumulate);
            }
        }
        apart.require(leftBytes(k) + productBytes(side.columns));
        long right = right(b, side);
        pool.share((long) side.parts * panelCount, 1, (unit, _, member) -> {
            int part = (int) (unit / panelCount);
            int panel = (int) (unit % panelCount);
            int from = firstOf(m, panel);
            int rows = rowsOf(m, panel);
            int count = Math.min(rows, m - from);
            int column = part * side.columns;
            int width = width(side, part);
            long left = apart.of(member);
            if (widens) {
                RowLoop.widen(a.addressOf((long) from * k), left, count * k);
            } else if (count < rows) {
                Elements.copyBytes(a.addressOf((long) from * k), left, (long) a.dataType().elementBytes() * count * k);
            } else {
                left = a.addressOf((long) from * k);
            }
            boolean isApart = count < rows || into != c.dataType();
            long product = isApart
                    ? apart.of(member) + leftBytes(k)
                    : c.addressOf((long) from * n + column);
            for (int row = 0; isApart && accumulate && row < count; row++) {
                Elements.copyBytes(c.addressOf((long) (from + row) * n + column),
                        product + (long) into.elementBytes() * row * width, (long) into.elementBytes() * width);
            }
            side.panels(part == side.parts - 1, rows, into, isApart ? width : n, bias != 0, accumulate).multiply(
                    member, left, side.partOf(right, part), bias == 0 ? 0 : bias + (long) Float.BYTES * column,
                    product, scratch.of(member));
            for (int row = 0; isApart && row < count; row++) {
                long to = (long) (from + row) * n + column;
                long found = product + (long) into.elementBytes() * row * width;
                if (into != c.dataType()) {
                    c.written(to, width, found);
                } else {
                    Elements.copyBytes(found, c.addressOf(to), (long) into.elementBytes() * width);
                }
            }
            if (finish != null) {
                finish.finish(from, count, column, width, member);
            }
        });
    }

    private static int width(Side side, int part) {
        return Math.min(side.columns, side.n - part * side.columns);
    }

    /** The rows after the last whole panel, filled up, are panels of powers of two: the largest first. */
    private static int rest(int m) {
        return Math.ceilDiv(m % MOST, LEAST) * LEAST;
    }

    private static int panelCount(int m) {
        return m / MOST + Integer.bitCount(rest(m));
    }

    private static int rowsOf(int m, int panel) {
        int rest = rest(m);
        for (int i = m / MOST; i < panel; i++) {
            rest -= Integer.highestOneBit(rest);
        }
        return panel < m / MOST ? MOST : Integer.highestOneBit(rest);
    }

    private static int firstOf(int m, int panel) {
        int first = Math.min(panel, m / MOST) * MOST;
        for (int i = m / MOST; i < panel; i++) {
            first += rowsOf(m, i);
        }
        return first;
    }

    /**
     * The type in which sides are multiplied. If the depth is no multiple of the numbers that units read together, oneDNN
     * chooses other units by the number of rows: bits of [330 x 206] in bfloat16 differ from 256 rows on.
     */
    private static DataType computing(DataType type, long k) {
        return k % UNIT_DEPTH == 0 ? BfloatUnits.computing(type) : DataType.FLOAT32;
    }

    /** The columns of a part. */
    private static int columns(long k, long n) {
        long parts = Math.max(1, k * n / PART_ELEMENTS);
        return Math.toIntExact(filled(Math.ceilDiv(n, parts)));
    }

    private static long filled(long size) {
        return Math.ceilDiv(size, STEP) * STEP;
    }

    private static long aligned(long bytes) {
        return Math.ceilDiv(bytes, Lanes.ALIGNMENT) * Lanes.ALIGNMENT;
    }

    /** Bytes of the largest panel as floats. */
    private static long leftBytes(long k) {
        return aligned(Float.BYTES * MOST * k);
    }

    private static long productBytes(long columns) {
        return Float.BYTES * MOST * columns;
    }

    /** The most bytes of a packed right side [k x n]: oneDNN fills up blocks. */
    static long sideBytes(DataType type, long k, long n) {
        return computing(type, k).elementBytes() * filled(k) * filled(n);
    }

    /** Bytes of scratch memory, as {@link PackedProducts#scratchBytes}. */
    static long scratchBytes(DataType type, long k, long n, boolean isKept, int threads) {
        long columns = columns(k, n);
        return (isKept ? 0 : sideBytes(type, k, n))
                + threads * Math.max(Packing.wideBytes(columns), leftBytes(k) + productBytes(columns));
    }

    /** A parameter is a range, of which a packed copy is kept; other operands change before their next use. */
    private long right(CpuTensor b, Side side) {
        if (b.keepsCopies()) {
            return b.packed(side);
        }
        packed.require(side.bytes());
        side.pack(b.address(), packed.of(0));
        return packed.of(0);
    }

    private Side side(DataType type, boolean transposed, int k, int n) {
        for (int i = 0; i < sides.size(); i++) {
            if (sides.get(i).serves(type, transposed, k, n)) {
                return sides.get(i);
            }
        }
        sides.add(new Side(type, transposed, k, n));
        return sides.getLast();
    }

    @Override
    public void close() {
        sides.forEach(Side::close);
        scratch.close();
        packed.close();
        apart.close();
    }
}
