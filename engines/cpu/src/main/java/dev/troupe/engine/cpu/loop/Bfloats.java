package dev.troupe.engine.cpu.loop;

import dev.troupe.engine.Bfloat16;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Conversions between BFLOAT16, the upper halves of floats, and floats in memory. Kernels compute on floats: they widen a
 * part that stays in the cache, and narrow the results.
 */
public final class Bfloats {
    private static final int HALF = 16;
    private static final int ROUNDING_BIAS = 0x7fff;
    private static final int NOT_A_NUMBER = 0x7fc0;

    private Bfloats() {
    }

    /** Converts numbers to floats; the two may not overlap. */
    public static void widen(long numbers, long floats, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            IntVector bits = (IntVector) ShortVector
                    .fromMemorySegment(Lanes.SHORTS, Lanes.MEMORY, numbers + 2L * i, Lanes.ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_S2I, Lanes.INTS, 0);
            Lanes.store(bits.lanewise(VectorOperators.LSHL, HALF).reinterpretAsFloats(), floats, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(floats, i, Bfloat16.toFloat(Lanes.getShort(numbers, i)));
        }
    }

    /** The sum of products in floats, with the bits that it has of widened numbers. */
    static float dot(long left, long right, int count, long lanes) {
        int whole = Lanes.whole(count);
        FloatVector sums = Lanes.zeros();
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector one = ((IntVector) ShortVector
                    .fromMemorySegment(Lanes.SHORTS, Lanes.MEMORY, left + 2L * i, Lanes.ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_S2I, Lanes.INTS, 0)).lanewise(VectorOperators.LSHL, HALF)
                    .reinterpretAsFloats();
            FloatVector other = ((IntVector) ShortVector
                    .fromMemorySegment(Lanes.SHORTS, Lanes.MEMORY, right + 2L * i, Lanes.ORDER)
                    .convertShape(VectorOperators.ZERO_EXTEND_S2I, Lanes.INTS, 0)).lanewise(VectorOperators.LSHL, HALF)
                    .reinterpretAsFloats();
            sums = one.fma(other, sums);
        }
        Lanes.store(sums, lanes, 0);
        float sum = Lanes.sum(lanes);
        for (int i = whole; i < count; i++) {
            sum = Math.fma(Bfloat16.toFloat(Lanes.getShort(left, i)), Bfloat16.toFloat(Lanes.getShort(right, i)), sum);
        }
        return sum;
    }

    /** Rounds floats to the nearest numbers, ties to even. Both may begin at the same address. */
    public static void narrow(long floats, long numbers, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector values = Lanes.load(floats, i);
            IntVector bits = values.reinterpretAsInts();
            IntVector upper = bits.lanewise(VectorOperators.LSHR, HALF);
            IntVector rounded = bits.add(ROUNDING_BIAS).add(upper.and(1)).lanewise(VectorOperators.LSHR, HALF)
                    .blend(NOT_A_NUMBER, values.test(VectorOperators.IS_NAN).cast(Lanes.INTS));
            ((ShortVector) rounded.convertShape(VectorOperators.I2S, Lanes.SHORTS, 0)).intoMemorySegment(Lanes.MEMORY,
                    numbers + 2L * i, Lanes.ORDER);
        }
        for (int i = whole; i < count; i++) {
            Lanes.setShort(numbers, i, Bfloat16.of(Lanes.get(floats, i)));
        }
    }
}
