package dev.troupe.collective;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Values of members, and their reduction, element by element in the order of members. Each is made once: all members expect
 * the same.
 */
public final class Naive {
    private static final Map<Long, double[]> RANDOM = new ConcurrentHashMap<>();
    private static final Map<Expected, byte[]> REDUCED = new ConcurrentHashMap<>();

    private record Expected(DataType type, int elements, int size, int seed, Reduction reduction) {
    }

    private Naive() {
    }

    /** Values of one member, of very different sizes, so that another order of sums gives other bits. Begins anywhere. */
    public static MemorySegment values(Arena arena, DataType type, int elements, int member, int seed) {
        MemorySegment memory = arena.allocate((elements + 1L) * type.elementBytes() + 1)
                .asSlice(type.elementBytes(), (long) elements * type.elementBytes());
        double[] random = RANDOM.compute(31L * seed + member,
                (itsSeed, known) -> known != null && known.length >= elements ? known : random(itsSeed, elements));
        for (int i = 0; i < elements; i++) {
            double value = random[i];
            if (type == DataType.FLOAT32) {
                memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, i * 4L, (float) value);
            } else {
                memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, i * 8L, value);
            }
        }
        return memory;
    }

    private static double[] random(long seed, int count) {
        Random random = new Random(seed);
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = random.nextGaussian() * Math.pow(10, random.nextInt(8) - 4);
        }
        return values;
    }

    /** The bytes of the reduction, which the caller does not change. */
    static byte[] reduced(DataType type, int elements, int size, int seed, Reduction reduction) {
        return REDUCED.computeIfAbsent(new Expected(type, elements, size, seed, reduction), Naive::reduce);
    }

    private static byte[] reduce(Expected expected) {
        DataType type = expected.type;
        int elements = expected.elements;
        Reduction reduction = expected.reduction;
        try (Arena arena = Arena.ofConfined()) {
            if (reduction == Reduction.TREE_SUM) {
                return tree(arena, expected, 0, expected.size).toArray(ValueLayout.JAVA_BYTE);
            }
            MemorySegment sum = addends(arena, expected, 0);
            for (int member = 1; member < expected.size; member++) {
                combine(sum, addends(arena, expected, member), type, elements, reduction);
            }
            return sum.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** The sum of some members: of the first ones, the largest power of two below their number, and of the others. */
    private static MemorySegment tree(Arena arena, Expected expected, int first, int count) {
        MemorySegment sum = addends(arena, expected, first);
        if (count > 1) {
            int left = Integer.highestOneBit(count - 1);
            sum = tree(arena, expected, first, left);
            combine(sum, tree(arena, expected, first + left, count - left), expected.type, expected.elements,
                    Reduction.SUM);
        }
        return sum;
    }

    private static void combine(MemorySegment sum, MemorySegment next, DataType type, int elements,
            Reduction reduction) {
        for (int i = 0; i < elements; i++) {
            if (type == DataType.FLOAT32) {
                float a = sum.get(ValueLayout.JAVA_FLOAT_UNALIGNED, i * 4L);
                float b = next.get(ValueLayout.JAVA_FLOAT_UNALIGNED, i * 4L);
                sum.set(ValueLayout.JAVA_FLOAT_UNALIGNED, i * 4L,
                        reduction == Reduction.MAXIMUM ? Math.max(a, b) : a + b);
            } else {
                double a = sum.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, i * 8L);
                double b = next.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, i * 8L);
                sum.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, i * 8L,
                        reduction == Reduction.MAXIMUM ? Math.max(a, b) : a + b);
            }
        }
    }

    private static MemorySegment addends(Arena arena, Expected expected, int member) {
        MemorySegment addends = values(arena, expected.type, expected.elements, member, expected.seed);
        for (int i = 0; expected.reduction == Reduction.SUM_OF_ROUNDED && i < expected.elements; i++) {
            float value = addends.get(ValueLayout.JAVA_FLOAT_UNALIGNED, i * 4L);
            addends.set(ValueLayout.JAVA_FLOAT_UNALIGNED, i * 4L, (float) Bfloat16.round(value));
        }
        return addends;
    }

    /** Any bytes of a member. */
    static MemorySegment bytes(Arena arena, int count, int member) {
        MemorySegment memory = arena.allocate(count, 1);
        Random random = new Random(member);
        for (int i = 0; i < count; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) random.nextInt());
        }
        return memory;
    }
}
