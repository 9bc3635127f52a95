package dev.troupe.engine.cpu.product;

import dev.troupe.engine.DataType;
import dev.troupe.engine.cpu.library.Dnnl;
import dev.troupe.engine.cpu.library.Primitive;
import dev.troupe.engine.cpu.library.Tiles;
import dev.troupe.engine.cpu.loop.RowLoop;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import dev.troupe.engine.cpu.memory.Packer;

/**
 * The split of one side of products into panels of {@link Tiles}: a [m x k], or b [k x n]. Rows, columns and numbers
 * along k that complete a panel are zeros. After the panels is the range of each.
 *
 * <p>Thread rule: one thread at a time.
 */
final class SplitSide implements Packer, AutoCloseable {
    private static final int SIDE = Tiles.SIDE;

    private final WorkerPool pool;
    private final GrowingMemory dense;
    private final boolean left;
    private final boolean transposed;
    private final int length;
    private final int k;
    private final int parts;
    private final Tiles tiles;
    private final int panels;
    private final int wholeK;
    /** Copies of whole panels that are not stored in this order, and of an incomplete last one, for each member. */
    private final Primitive[] copies;
    private final Primitive[] lastCopies;

    /**
     * Creates the split of a side.
     *
     * @param dense scratch memory of the pool
     * @param left whether the side is a
     * @param transposed whether the side is stored as [k x m] or [n x k]
     * @param length m or n
     * @param parts numbers of bfloat16 for each float
     */
    SplitSide(WorkerPool pool, GrowingMemory dense, boolean left, boolean transposed, int length, int k, int parts) {
        this.pool = pool;
        this.dense = dense;
        this.left = left;
        this.transposed = transposed;
        this.length = length;
        this.k = k;
        this.parts = parts;
        tiles = Tiles.of(parts);
        panels = Math.ceilDiv(length, SIDE);
        wholeK = wholeSides(k);
        copies = copies(length >= SIDE && (transposed || wholeK > k) ? SIDE : 0);
        lastCopies = copies(length % SIDE);
    }

    private Primitive[] copies(int count) {
        Primitive[] made = new Primitive[count == 0 ? 0 : pool.threads()];
        if (count > 0) {
            int stored = left == transposed ? length : k;
            long from = left
                    ? Dnnl.descriptor(DataType.FLOAT32, count, k, transposed, stored)
                    : Dnnl.descriptor(DataType.FLOAT32, k, count, transposed, stored);
            long to = left
                    ? Dnnl.descriptor(DataType.FLOAT32, count, k, false, wholeK)
                    : Dnnl.descriptor(DataType.FLOAT32, k, count, false, SIDE);
            long plan = Dnnl.reorderPlan(from, to);
            for (int member = 0; member < made.length; member++) {
                made[member] = new Primitive(plan, new int[]{Dnnl.SOURCE, Dnnl.DESTINATION}, new long[]{from, to});
            }
            Dnnl.destroyPlan(plan);
            Dnnl.destroyDescriptor(from);
            Dnnl.destroyDescriptor(to);
        }
        return made;
    }

    boolean serves(boolean askedLeft, boolean askedTransposed, int askedLength, int depth) {
        return left == askedLeft && transposed == askedTransposed && length == askedLength && k == depth;
    }

    /** The length of a side in whole panels. */
    static int wholeSides(int count) {
        return Math.ceilDiv(count, SIDE) * SIDE;
    }

    /** Bytes of a split side. */
    static long bytes(long length, long depth, int parts) {
        long count = Math.ceilDiv(length, SIDE);
        return count * (Math.ceilDiv(depth, SIDE) * parts * Tiles.PART_BYTES + Tiles.RANGE_BYTES);
    }

    /** Bytes of scratch memory of each thread that splits. */
    static long denseBytes(long depth) {
        return Math.ceilDiv(depth, SIDE) * SIDE * SIDE * Float.BYTES;
    }

    @Override
    public long bytes() {
        return bytes(length, k, parts);
    }

    long panelBytes() {
        return (long) wholeK / SIDE * parts * Tiles.PART_BYTES;
    }

    @Override
    public void pack(long from, long to) {
        requireScratch();
        pool.share(panels, 1, (panel, count, member) -> pack(from, (int) panel, to + panel * panelBytes(),
                to + panels * panelBytes() + Tiles.RANGE_BYTES * panel, member));
    }

    /** Called before the panels of an operand are split one by one. */
    void requireScratch() {
        dense.require(denseBytes(k));
    }

    /**
     * Splits one panel of an operand at an address. Thread rule: each member calls with its own number.
     *
     * @param range receives the range of the panel, in {@link Tiles#RANGE_BYTES}
     */
    void pack(long from, int panel, long to, long range, int member) {
        long there = from + (long) Float.BYTES * SIDE * panel * (left == transposed ? 1 : k);
        boolean isWhole = (panel + 1) * SIDE <= length;
        Primitive[] copiesHere = isWhole ? copies : lastCopies;
        boolean isDirect = copiesHere.length == 0;
        if (!isDirect) {
            long copy = dense.of(member);
            if (!isWhole || wholeK > k) {
                RowLoop.fill(copy, 0, wholeK * SIDE);
            }
            copiesHere[member].set(0, there);
            copiesHere[member].set(1, copy);
            copiesHere[member].execute();
            there = copy;
        }
        long stride = left ? (isDirect ? k : wholeK) : isDirect ? length : SIDE;
        tiles.split(left, there, to, Float.BYTES * stride, wholeK / SIDE, range);
    }

    /** The range of all panels of a packed operand. */
    long magnitudes(long packed) {
        return Magnitudes.of(packed + panels * panelBytes(), panels);
    }

    @Override
    public void close() {
        for (Primitive copy : copies) {
            copy.close();
        }
        for (Primitive copy : lastCopies) {
            copy.close();
        }
    }
}
