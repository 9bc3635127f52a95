package dev.troupe.engine.cpu;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;
import jdk.incubator.vector.VectorSpecies;

/**
 * Vectors of the machine's own width, from and to native memory by address. What is read and written has been checked by
 * {@link Operands}: an address beyond a tensor would not raise an exception here, but break the process.
 */
final class Lanes {
    private static final int MOST = 16;

    /** Vectors of floats. */
    static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED.length() > MOST
            ? FloatVector.SPECIES_512
            : FloatVector.SPECIES_PREFERRED;
    /** Floats of a vector. */
    static final int COUNT = FLOATS.length();

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final MemorySegment MEMORY = memory();

    private static final VectorShuffle<Float> SWAP_8 = swap(8);
    private static final VectorShuffle<Float> SWAP_4 = swap(4);
    private static final VectorShuffle<Float> SWAP_2 = swap(2);
    private static final VectorShuffle<Float> SWAP_1 = swap(1);

    private Lanes() {
    }

    /** The number of whole vectors' floats in so many. */
    static int whole(int count) {
        return count - count % COUNT;
    }

    static FloatVector load(long address, int index) {
        return FloatVector.fromMemorySegment(FLOATS, MEMORY, address + 4L * index, ORDER);
    }

    static void store(FloatVector vector, long address, int index) {
        vector.intoMemorySegment(MEMORY, address + 4L * index, ORDER);
    }

    /** The lanes of the last, incomplete vector of {@code count} floats, which begins at {@code index}. */
    static VectorMask<Float> rest(int index, int count) {
        return FLOATS.indexInRange(index, count);
    }

    /** As {@link #load}, with zeros in lanes that are not set; their memory is not touched. */
    static FloatVector load(long address, int index, VectorMask<Float> lanes) {
        return FloatVector.fromMemorySegment(FLOATS, MEMORY, address + 4L * index, ORDER, lanes);
    }

    /** As {@link #store}, of the lanes that are set. */
    static void store(FloatVector vector, long address, int index, VectorMask<Float> lanes) {
        vector.intoMemorySegment(MEMORY, address + 4L * index, ORDER, lanes);
    }

    static FloatVector all(float value) {
        return FloatVector.broadcast(FLOATS, value);
    }

    static FloatVector zeros() {
        return FloatVector.zero(FLOATS);
    }

    static float get(long address, int index) {
        return MEMORY.get(ValueLayout.JAVA_FLOAT, address + 4L * index);
    }

    static void set(long address, int index, float value) {
        MEMORY.set(ValueLayout.JAVA_FLOAT, address + 4L * index, value);
    }

    static int getInt(long address, int index) {
        return MEMORY.get(ValueLayout.JAVA_INT, address + 4L * index);
    }

    /**
     * The sum of all lanes, halves first. {@code reduceLanes} may add in another order once its caller is compiled; the
     * same call must give the same bytes.
     */
    static float sum(FloatVector vector) {
        FloatVector sums = vector;
        if (COUNT > 8) {
            sums = sums.add(sums.rearrange(SWAP_8));
        }
        if (COUNT > 4) {
            sums = sums.add(sums.rearrange(SWAP_4));
        }
        if (COUNT > 2) {
            sums = sums.add(sums.rearrange(SWAP_2));
        }
        return sums.add(sums.rearrange(SWAP_1)).lane(0);
    }

    /** The largest lane; not a number where one is not. */
    static float largest(FloatVector vector) {
        return vector.reduceLanes(VectorOperators.MAX);
    }

    private static VectorShuffle<Float> swap(int distance) {
        return VectorShuffle.fromOp(FLOATS, lane -> distance < COUNT ? lane ^ distance : lane);
    }

    @SuppressWarnings("restricted")
    private static MemorySegment memory() {
        return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }
}
