package dev.troupe.weights;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.lang.foreign.MemorySegment;

/**
 * A tensor to be written to a file. The values are asked for one tensor at a time, so that a model need not stand in
 * host memory twice.
 *
 * @param name
 *            the key in the file
 * @param shape
 *            the dimensions
 * @param type
 *            how the values are given and stored
 * @param values
 *            fills the elements, row-major and little-endian
 */
public record NamedTensor(String name, Shape shape, DataType type, Values values) {
    /** Gives the elements of a tensor. */
    @FunctionalInterface
    public interface Values {
        /**
         * Writes every element.
         *
         * @param target
         *            exactly as many bytes as the tensor has, valid only during the call
         */
        void copyTo(MemorySegment target);
    }

    /** A tensor whose elements stand in host memory. */
    public static NamedTensor of(String name, Shape shape, DataType type, MemorySegment elements) {
        return new NamedTensor(name, shape, type, target -> target.copyFrom(elements));
    }

    /** The same under another name. */
    public NamedTensor as(String other) {
        return new NamedTensor(other, shape, type, values);
    }

    /** Bytes of all elements. */
    public long byteCount() {
        return shape.elementCount() * type.elementBytes();
    }
}
