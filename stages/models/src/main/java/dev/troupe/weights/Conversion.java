package dev.troupe.weights;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.EnumSet;
import java.util.OptionalLong;
import java.util.Set;

/** The conversion of stored elements into the types of an engine. */
public final class Conversion {
    // Unaligned, as a header of any length may precede the data.
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The types that convert into an engine's floating-point types. */
    public static final Set<StoredType> READABLE_AS_FLOAT = Collections
            .unmodifiableSet(EnumSet.of(StoredType.F64, StoredType.F32, StoredType.F16,
                    StoredType.BF16));

    private Conversion() {
    }

    /** Converts all elements; the message of a refusal follows the tensor's name. */
    static void convert(MemorySegment source, StoredType from, DataType to, MemorySegment target) {
        if (StoredType.of(to) == from) {
            MemorySegment.copy(source, 0, target, 0, source.byteSize());
            return;
        }
        long count = source.byteSize() / from.elementBytes();
        switch (to) {
            case FLOAT32 -> toFloat32(source, from, target, count);
            case FLOAT64 -> toFloat64(source, from, target, count);
            case INT32 -> toInt32(source, from, target, count);
            case BFLOAT16 ->
                throw new IllegalArgumentException("files are read as FLOAT32, FLOAT64 or INT32, not as " + to);
        }
    }

    private static void toFloat32(MemorySegment source, StoredType from, MemorySegment target, long count) {
        switch (from) {
            case F64 -> {
                for (long i = 0; i < count; i++) {
                    target.setAtIndex(FLOAT, i, (float) source.getAtIndex(DOUBLE, i));
                }
            }
            case F16 -> {
                for (long i = 0; i < count; i++) {
                    target.setAtIndex(FLOAT, i, Float.float16ToFloat(source.getAtIndex(SHORT, i)));
                }
            }
            case BF16 -> {
                for (long i = 0; i < count; i++) {
                    target.setAtIndex(FLOAT, i, Bfloat16.toFloat(source.getAtIndex(SHORT, i)));
                }
            }
            case F32, BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, I16,
                    U16, I32, U32, C64, I64, U64 ->
                throw refusal(from, "F64, F32, F16 or BF16");
        }
    }

    private static void toFloat64(MemorySegment source, StoredType from, MemorySegment target, long count) {
        switch (from) {
            case F32 -> {
                for (long i = 0; i < count; i++) {
                    target.setAtIndex(DOUBLE, i, source.getAtIndex(FLOAT, i));
                }
            }
            case F16 -> {
                for (long i = 0; i < count; i++) {
                    target.setAtIndex(DOUBLE, i, Float.float16ToFloat(source.getAtIndex(SHORT, i)));
                }
            }
            case BF16 -> {
                for (long i = 0; i < count; i++) {
                    target.setAtIndex(DOUBLE, i, Bfloat16.toFloat(source.getAtIndex(SHORT, i)));
                }
            }
            case F64, BOOL, F4, F6_E2M3, F6_E3M2, U8, I8, F8_E5M2, F8_E4M3, F8_E8M0, F8_E4M3FNUZ, F8_E5M2FNUZ, I16,
                    U16, I32, U32, C64, I64, U64 ->
                throw refusal(from, "F64, F32, F16 or BF16");
        }
    }

    private static void toInt32(MemorySegment source, StoredType from, MemorySegment target, long count) {
        if (from != StoredType.I64) {
            throw refusal(from, "I32 or I64");
        }
        for (long i = 0; i < count; i++) {
            long value = source.getAtIndex(LONG, i);
            if (value != (int) value) {
                throw new WeightException("must hold numbers of 32 bits, but element " + i + " is " + value);
            }
            target.setAtIndex(INT, i, (int) value);
        }
    }

    /** Returns the first element that is NaN or infinite; empty if there is none, and for integers. */
    static OptionalLong firstNotFinite(DataType type, MemorySegment values) {
        long count = values.byteSize() / type.elementBytes();
        switch (type) {
            case FLOAT32 -> {
                for (long i = 0; i < count; i++) {
                    if (!Float.isFinite(values.getAtIndex(FLOAT, i))) {
                        return OptionalLong.of(i);
                    }
                }
            }
            case FLOAT64 -> {
                for (long i = 0; i < count; i++) {
                    if (!Double.isFinite(values.getAtIndex(DOUBLE, i))) {
                        return OptionalLong.of(i);
                    }
                }
            }
            case INT32, BFLOAT16 -> {
            }
        }
        return OptionalLong.empty();
    }

    static String text(DataType type, MemorySegment values, long index) {
        return type == DataType.FLOAT64
                ? String.valueOf(values.getAtIndex(DOUBLE, index))
                : String.valueOf(values.getAtIndex(FLOAT, index));
    }

    private static WeightException refusal(StoredType from, String expected) {
        return new WeightException(
                "must be stored as " + expected + ", but is " + from + "; save it again as one of those");
    }
}
