package dev.troupe.weights;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A tensor to be written to a file. Values are produced one tensor at a time, so that host memory need not hold a model
 * twice.
 *
 * @param name the key in the file
 * @param type the type of the produced and stored values
 * @param values fills the elements, row-major and little-endian
 */
public record NamedTensor(String name, Shape shape, DataType type, Values values) {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The source of a tensor's elements. */
    @FunctionalInterface
    public interface Values {
        /**
         * Writes every element.
         *
         * @param target the bytes of the tensor, valid only during the call
         */
        void copyTo(MemorySegment target);
    }

    public static NamedTensor of(String name, Shape shape, DataType type, MemorySegment elements) {
        return new NamedTensor(name, shape, type, target -> target.copyFrom(elements));
    }

    public NamedTensor as(String other) {
        return new NamedTensor(other, shape, type, values);
    }

    /**
     * Returns the same in bfloat16, each element rounded to the nearest, ties to even. While the values are produced, the
     * float32 ones are in memory too.
     *
     * @throws IllegalArgumentException if the elements are not FLOAT32
     */
    public NamedTensor inBfloat16() {
        if (type != DataType.FLOAT32) {
            throw new IllegalArgumentException(
                    name + " must be FLOAT32 to be rounded to bfloat16, but found " + type);
        }
        return new NamedTensor(name, shape, DataType.BFLOAT16, target -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment floats = arena.allocate(byteCount(), Float.BYTES);
                values.copyTo(floats);
                for (long i = 0; i < shape.elementCount(); i++) {
                    target.set(SHORT, i * Short.BYTES, Bfloat16.of(floats.getAtIndex(FLOAT, i)));
                }
            }
        });
    }

    public long byteCount() {
        return shape.elementCount() * type.elementBytes();
    }
}
