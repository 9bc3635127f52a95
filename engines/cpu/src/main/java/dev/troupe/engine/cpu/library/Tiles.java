package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Products on AMX of floats that are split into two or three numbers of bfloat16, with sums in float32: the split into
 * panels of 32 rows or columns, and the product of two panels ({@link TileCode}). oneDNN multiplies one pair of parts at a
 * time, and is then no faster than in float32.
 *
 * <p>Thread rule: any thread.
 */
public final class Tiles {
    /** Rows or columns of a panel, and the length along k of its blocks. */
    public static final int SIDE = 32;
    /** Bytes of a part of a block. */
    public static final long PART_BYTES = TileCode.PART_BYTES;
    /** Bytes of the range of a panel. */
    public static final long RANGE_BYTES = 128;

    /** The smallest products first, and each shares one part with the product before. */
    private static final int[][] OF_TWO = {{1, 0}, {0, 0}, {0, 1}};
    private static final int[][] OF_THREE = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}};

    // From Linux: asm/prctl.h and asm/unistd_64.h.
    private static final long ARCH_PRCTL = 158;
    private static final long REQUEST_PERMISSION = 0x1023;
    private static final long TILE_DATA = 18;
    // The configuration of tiles: palette 1, from byte 16 on bytes of a row, from byte 48 on rows.
    private static final int TILES = 8;
    private static final int ROW_BYTES = 16;
    private static final int ROWS = 48;
    private static final int CONFIGURATION_BYTES = 64;
    private static final int MAGNITUDE = 0x7fff_ffff;
    private static final int LANES = 16;

    private final MemorySegment product;
    private final MemorySegment rows;
    private final MemorySegment columns;

    private Tiles(int parts, int[][] products, long configuration, long constants) throws Throwable {
        product = TileCode.of(parts, products, configuration).function();
        rows = SplitCode.ofRows(parts, constants).function();
        columns = SplitCode.ofColumns(parts, constants).function();
    }

    /** Why no such product is computed here, in words that follow "since"; empty if it is. */
    public static Optional<String> obstacle() {
        return InstructionSet.here().hasAmx() ? Holder.OBSTACLE : Optional.of("this processor has no AMX");
    }

    /** Returns the products of floats of two or three parts. Called only without an {@link #obstacle}. */
    public static Tiles of(int parts) {
        return parts == 2 ? Holder.TWO : Holder.THREE;
    }

    /**
     * {@code c = a b} [32 x 32].
     *
     * @param rowBytes bytes from a row of c to the next
     * @param blocks blocks of 32 along k
     * @param next memory that is read soon, as long as b
     */
    public void multiply(long a, long b, long c, long rowBytes, long blocks, long next) {
        MachineCode.call(product, a, b, c, rowBytes, blocks, next);
    }

    /**
     * Splits 32 rows of floats, or 32 columns.
     *
     * @param rowBytes bytes from a row of floats to the next
     * @param blocks blocks of 32 along k
     * @param range receives 16 times the bits of the smallest magnitude less one, without a sign, and 16 of the largest
     */
    public void split(boolean left, long floats, long panel, long rowBytes, long blocks, long range) {
        MachineCode.call(left ? rows : columns, floats, panel, rowBytes, blocks, range, 0);
    }

    /** The code, made at the first use. */
    private static final class Holder {
        static final Optional<String> OBSTACLE;
        static final Tiles TWO;
        static final Tiles THREE;

        static {
            Optional<String> obstacle = Optional.empty();
            Tiles two = null;
            Tiles three = null;
            try {
                requestTiles();
                long configuration = configuration();
                long constants = constants();
                two = new Tiles(2, OF_TWO, configuration, constants);
                three = new Tiles(3, OF_THREE, configuration, constants);
            } catch (IllegalStateException refused) {
                obstacle = Optional.of(refused.getMessage());
            } catch (Throwable failure) {
                obstacle = Optional.of("the C library could not be called: " + failure);
            }
            OBSTACLE = obstacle;
            TWO = two;
            THREE = three;
        }

        private static long configuration() {
            MemorySegment tiles = Arena.global().allocate(CONFIGURATION_BYTES, CONFIGURATION_BYTES);
            tiles.set(JAVA_BYTE, 0, (byte) 1);
            for (int tile = 0; tile < TILES; tile++) {
                tiles.set(JAVA_SHORT, ROW_BYTES + 2L * tile, (short) 64);
                tiles.set(JAVA_BYTE, ROWS + tile, (byte) 16);
            }
            return tiles.address();
        }

        private static long constants() {
            MemorySegment made = Arena.global().allocate(SplitCode.CONSTANT_BYTES, CONFIGURATION_BYTES);
            for (int lane = 0; lane < LANES; lane++) {
                made.setAtIndex(JAVA_INT, lane, MAGNITUDE);
                made.setAtIndex(JAVA_SHORT, 2L * LANES + 2 * lane, (short) lane);
                made.setAtIndex(JAVA_SHORT, 2L * LANES + 2 * lane + 1, (short) (LANES + lane));
            }
            return made.address();
        }

        /** Linux gives a process the tiles on request; a second request changes nothing. */
        @SuppressWarnings("restricted")
        private static void requestTiles() throws Throwable {
            Linker linker = Linker.nativeLinker();
            MethodHandle call = linker.downcallHandle(linker.defaultLookup().findOrThrow("syscall"),
                    FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                    Linker.Option.firstVariadicArg(1));
            if ((long) call.invokeExact(ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA) != 0) {
                throw new IllegalStateException("the system refuses the use of AMX");
            }
        }
    }
}
