package dev.troupe.weights;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.lang.foreign.MemorySegment;

/** The source of the values of named tensors: an initializer, a model directory, a checkpoint. */
public interface WeightSource {
    /**
     * Writes the values of one tensor, row-major and little-endian.
     *
     * @param shape the shape that the tensor must have
     * @param parameterType the type to write, whatever the stored type
     * @param target the bytes of shape and type
     * @throws WeightException if the source lacks the tensor or has it in another shape
     */
    void read(String name, Shape shape, DataType parameterType, MemorySegment target);

    /**
     * Checks the elements of one tensor, piece by piece, if the source is a file; other values are computed here.
     *
     * @throws WeightException if an element of the file is NaN or infinite in this type
     */
    default void requireNumbers(String name, DataType parameterType) {
        // computed here
    }
}
