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
