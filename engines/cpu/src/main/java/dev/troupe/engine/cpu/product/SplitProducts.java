package dev.troupe.engine.cpu.product;

import dev.troupe.engine.cpu.kernel.Bias;
import dev.troupe.engine.cpu.library.Sgemm;
import dev.troupe.engine.cpu.library.Tiles;
import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * Products of float32 on units of bfloat16: each number is the sum of two or three numbers of bfloat16, and the leading
 * products of these, three or six, are summed in float32 (Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial
 * Intelligence Datatype For Higher-Precision Computations", ARITH 2019, section III). The split of a parameter is kept until
 * it changes.
 *
 * <p>An element of a product depends on its row and column alone. So bits are the same for any number of threads, and for
 * any rows and columns next to these.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class SplitProducts implements AutoCloseable {
    /** Rows of the unit of work of a pool. Their split stays in the second cache while the right side passes. */
    private static final int ROWS = 4 * Tiles.SIDE;
    /** Blocks along k that are multiplied before the next: with more, two panels exceed the cache. */
    private static final int BLOCKS = 32;
    /** Multiplications from which the units gain more than the split costs. */
    private static final long FEWEST_MULTIPLICATIONS = 1L << 21;
    /** Likewise if both sides are split for one product, and a is turned. */
    private static final long FEWEST_OF_GRADIENTS = 1L << 27;

    private final WorkerPool pool;
    private final int parts;
    private final Tiles tiles;
    // Searched from the beginning: training repeats the same few dozens.
    private final List<SplitSide> sides = new ArrayList<>();
    private final GrowingMemory dense;
    private final GrowingMemory blocks;
    private final GrowingMemory lefts;
    private final GrowingMemory rights = new GrowingMemory(1);

    /**
     * Products of split numbers, on a processor with the units.
     *
     * @param parts numbers of bfloat16 for each float: 2 or 3
     */
    SplitProducts(WorkerPool pool, int parts) {
        this.pool = pool;
        this.parts = parts;
        tiles = Tiles.of(parts);
        dense = new GrowingMemory(pool.threads());
        lefts = new GrowingMemory(pool.threads());
        blocks = new GrowingMemory(pool.threads());
        blocks.require(blockBytes());
    }

    /** Whether products of this size are split. */
    static boolean serves(long m, long rightElements, boolean transposeA) {
        return m >= Tiles.SIDE
                && m * rightElements >= (transposeA ? FEWEST_OF_GRADIENTS : FEWEST_MULTIPLICATIONS);
    }

    /**
     * As {@link MatrixProduct#multiply}; rectangles are whole rows.
     *
     * @param whole multiplies rows with numbers of which the units would lose digits that float32 has: infinite ones, no
     *     numbers, and very small or large ones
     */
    void multiply(CpuTensor a, boolean transposeA, CpuTensor b, boolean transposeB, CpuTensor c, int k,
            boolean accumulate, long bias, MatrixProduct.Finish finish, Sgemm whole) {
        int m = c.size(0);
        int n = c.size(1);
        SplitSide leftSide = side(true, transposeA, m, k);
        SplitSide rightSide = side(false, transposeB, n, k);
        long right = b.keepsCopies() ? b.packed(rightSide) : split(rightSide, b);
        long rightMagnitudes = rightSide.magnitudes(right);
        long panelBytes = leftSide.panelBytes();
        leftSide.requireScratch();
        lefts.require(SplitSide.bytes(ROWS, k, parts));
        pool.share(m, ROWS, (from, rows, member) -> {
            long left = lefts.of(member);
            int panels = Math.ceilDiv(rows, Tiles.SIDE);
            long ranges = left + panels * panelBytes;
            for (int panel = 0; panel < panels; panel++) {
                leftSide.pack(a.address(), (int) from / Tiles.SIDE + panel, left + panel * panelBytes,
                        ranges + panel * Tiles.RANGE_BYTES, member);
            }
            long to = c.addressOf(from * n);
            if (Magnitudes.fit(Magnitudes.of(ranges, panels), rightMagnitudes, k)) {
                for (int first = 0; first < Math.ceilDiv(k, Tiles.SIDE); first += BLOCKS) {
                    multiply(left, right, panelBytes, first, to, rows, n, accumulate || first > 0, blocks.of(member));
                }
            } else {
                whole.multiply(transposeA, transposeB, rows, n, k, 1, a.addressOf(from * (transposeA ? 1 : k)),
                        transposeA ? m : k, b.address(), transposeB ? k : n, accumulate ? 1 : 0, to, n);
            }
            for (int row = 0; bias != 0 && row < rows; row++) {
                Bias.add(bias, c.addressOf((from + row) * n), n);
            }
            if (finish != null) {
                finish.finish((int) from, rows, 0, n, member);
            }
        });
    }

    /** Some rows of c (+)= a b, over the blocks along k from {@code first} on. */
    private void multiply(long left, long right, long panelBytes, int first, long c, int rows, int n,
            boolean accumulate, long block) {
        long partOfPanel = parts * Tiles.PART_BYTES;
        long count = Math.min(BLOCKS, panelBytes / partOfPanel - first);
        int leftPanels = Math.ceilDiv(rows, Tiles.SIDE);
        for (int column = 0; column < n; column += Tiles.SIDE) {
            long b = right + column / Tiles.SIDE * panelBytes + first * partOfPanel;
            for (int panel = 0; panel < leftPanels; panel++) {
                int row = panel * Tiles.SIDE;
                int rowsHere = Math.min(Tiles.SIDE, rows - row);
                int columnsHere = Math.min(Tiles.SIDE, n - column);
                boolean isDirect = !accumulate && rowsHere == Tiles.SIDE && columnsHere == Tiles.SIDE;
                long to = c + Float.BYTES * ((long) row * n + column);
                // Each panel of a requests its share of the next panel of b.
                tiles.multiply(left + panel * panelBytes + first * partOfPanel, b, isDirect ? to : block,
                        (long) Float.BYTES * (isDirect ? n : Tiles.SIDE), count,
                        b + panelBytes + panel * (count * partOfPanel / leftPanels));
                for (int i = 0; !isDirect && i < rowsHere; i++) {
                    long sums = block + (long) Float.BYTES * i * Tiles.SIDE;
                    long there = to + (long) Float.BYTES * i * n;
                    if (accumulate) {
                        Elements.add(there, sums, there, columnsHere);
                    } else {
                        Elements.copy(sums, there, columnsHere);
                    }
                }
            }
        }
    }

    private long split(SplitSide side, CpuTensor operand) {
        rights.require(side.bytes());
        side.pack(operand.address(), rights.of(0));
        return rights.of(0);
    }

    private SplitSide side(boolean left, boolean transposed, int length, int k) {
        for (int i = 0; i < sides.size(); i++) {
            if (sides.get(i).serves(left, transposed, length, k)) {
                return sides.get(i);
            }
        }
        sides.add(new SplitSide(pool, dense, left, transposed, length, k, parts));
        return sides.getLast();
    }

    /** Bytes of scratch memory for a product. */
    static long scratchBytes(long m, long k, long n, boolean isKept, int parts, int threads) {
        return (isKept ? 0 : SplitSide.bytes(n, k, parts))
                + threads * (SplitSide.bytes(Math.min(ROWS, m), k, parts) + SplitSide.denseBytes(k) + blockBytes());
    }

    private static long blockBytes() {
        return (long) Float.BYTES * Tiles.SIDE * Tiles.SIDE;
    }

    @Override
    public void close() {
        sides.forEach(SplitSide::close);
        dense.close();
        blocks.close();
        lefts.close();
        rights.close();
    }
}
