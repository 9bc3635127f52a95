package dev.troupe.engine.cpu.loop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Vectors of the machine's width, from and to native memory by address. {@code Operands} has checked the addresses: here an
 * address beyond a tensor raises no exception, but crashes the process.
 */
public final class Lanes {
    private static final int MOST = 16;

    public static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED.length() > MOST
            ? FloatVector.SPECIES_512
            : FloatVector.SPECIES_PREFERRED;
    public static final int COUNT = FLOATS.length();

    /** Vectors of whole numbers, of the same width. */
    static final VectorSpecies<Integer> INTS = FLOATS.withLanes(int.class);
    /** Vectors of long whole numbers, of the same width. */
    static final VectorSpecies<Long> LONGS = FLOATS.withLanes(long.class);

    /** The alignment of memory: bytes of a line of the cache, and of the widest vector. */
    public static final long ALIGNMENT = 64;

    /** Vectors of 16-bit numbers, with the same number of lanes. */
    static final VectorSpecies<Short> SHORTS = VectorSpecies.of(short.class,
            VectorShape.forBitSize(FLOATS.vectorBitSize() / 2));

    static final ByteOrder ORDER = ByteOrder.nativeOrder();
    static final MemorySegment MEMORY = memory();

    private Lanes() {
    }

    /** Returns {@code count} rounded down to a multiple of {@link #COUNT}. */
    public static int whole(int count) {
        return count - count % COUNT;
    }

    /** Returns {@code count} rounded up to a multiple of {@link #COUNT}. */
    public static int wholeFor(int count) {
        return whole(count + COUNT - 1);
    }

    public static FloatVector load(long address, int index) {
        return FloatVector.fromMemorySegment(FLOATS, MEMORY, address + 4L * index, ORDER);
    }

    public static void store(FloatVector vector, long address, int index) {
        vector.intoMemorySegment(MEMORY, address + 4L * index, ORDER);
    }

    static IntVector loadInts(long address, int index) {
        return IntVector.fromMemorySegment(INTS, MEMORY, address + 4L * index, ORDER);
    }

    static void storeLongs(LongVector vector, long address, int index) {
        vector.intoMemorySegment(MEMORY, address + 8L * index, ORDER);
    }

    public static FloatVector all(float value) {
        return FloatVector.broadcast(FLOATS, value);
    }

    public static FloatVector zeros() {
        return FloatVector.zero(FLOATS);
    }

    public static float get(long address, int index) {
        return MEMORY.get(ValueLayout.JAVA_FLOAT, address + 4L * index);
    }

    public static void set(long address, int index, float value) {
        MEMORY.set(ValueLayout.JAVA_FLOAT, address + 4L * index, value);
    }

    static short getShort(long address, int index) {
        return MEMORY.get(ValueLayout.JAVA_SHORT, address + 2L * index);
    }

    static void setShort(long address, int index, short value) {
        MEMORY.set(ValueLayout.JAVA_SHORT, address + 2L * index, value);
    }

    public static int getInt(long address, int index) {
        return MEMORY.get(ValueLayout.JAVA_INT, address + 4L * index);
    }

    public static void setInt(long address, int index, int value) {
        MEMORY.set(ValueLayout.JAVA_INT, address + 4L * index, value);
    }

    /**
     * The sum of a stored vector: even and odd lanes, each in order. {@code reduceLanes} may add in another order after its
     * caller is compiled, but the same call must give the same bytes. The argument is an address, since a vector as argument
     * would be allocated if the compiler does not inline the call.
     */
    public static float sum(long address) {
        float even = 0;
        float odd = 0;
        for (int i = 0; i < COUNT; i += 2) {
            even += get(address, i);
            odd += get(address, i + 1);
        }
        return even + odd;
    }

    /** The largest lane of a stored vector without NaN. Comparing takes half the time of {@code max}. */
    static float largest(long address) {
        float largest = get(address, 0);
        for (int i = 1; i < COUNT; i++) {
            float lane = get(address, i);
            largest = lane > largest ? lane : largest;
        }
        return largest;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment memory() {
        return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }
}
