package dev.troupe.engine.fallback;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Conversions between the bytes of a tensor, little-endian, and numbers in float64. Any thread. */
public final class HostNumbers {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private HostNumbers() {
    }

    /** Rounds each number, once, to the nearest of a type of floats. */
    public static void round(DataType type, double[] numbers) {
        switch (type) {
            case FLOAT32 -> {
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = (float) numbers[i];
                }
            }
            case BFLOAT16 -> {
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = Bfloat16.round(numbers[i]);
                }
            }
            case FLOAT64, INT32 -> {
                // Exact as they are.
            }
        }
    }

    /** Loads all numbers of some bytes into an array, from an index on. */
    public static void load(DataType type, MemorySegment bytes, double[] numbers, int first) {
        int count = Math.toIntExact(bytes.byteSize() / type.elementBytes());
        switch (type) {
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    numbers[first + i] = bytes.getAtIndex(FLOAT, i);
                }
            }
            case FLOAT64 -> MemorySegment.copy(bytes, DOUBLE, 0, numbers, first, count);
            case BFLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    numbers[first + i] = Bfloat16.toFloat(bytes.getAtIndex(SHORT, i));
                }
            }
            case INT32 -> throw new IllegalArgumentException("integers are loaded into an array of integers");
        }
    }

    /** Loads all integers of some bytes into an array, from an index on. */
    public static void load(MemorySegment bytes, int[] integers, int first) {
        MemorySegment.copy(bytes, INT, 0, integers, first, Math.toIntExact(bytes.byteSize() / Integer.BYTES));
    }

    /** Stores numbers of an array, from an index on, until the bytes are full; each is a number of the type already. */
    public static void store(DataType type, double[] numbers, int first, MemorySegment bytes) {
        int count = Math.toIntExact(bytes.byteSize() / type.elementBytes());
        switch (type) {
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    bytes.setAtIndex(FLOAT, i, (float) numbers[first + i]);
                }
            }
            case FLOAT64 -> MemorySegment.copy(numbers, first, bytes, DOUBLE, 0, count);
            case BFLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    bytes.setAtIndex(SHORT, i, Bfloat16.of((float) numbers[first + i]));
                }
            }
            case INT32 -> throw new IllegalArgumentException("integers are stored from an array of integers");
        }
    }

    /** Stores integers of an array, from an index on, until the bytes are full. */
    public static void store(int[] integers, int first, MemorySegment bytes) {
        MemorySegment.copy(integers, first, bytes, INT, 0, Math.toIntExact(bytes.byteSize() / Integer.BYTES));
    }
}
