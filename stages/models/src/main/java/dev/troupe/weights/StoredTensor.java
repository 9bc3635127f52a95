package dev.troupe.weights;

import dev.troupe.engine.Shape;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a safetensors header says of one tensor, after it was checked.
 *
 * @param name the key in the header
 * @param type how elements are stored
 * @param sizes the dimensions, outermost first; none for a scalar, and any of them may be 0
 * @param begin first byte, counted from the end of the header
 * @param end byte after the last
 */
public record StoredTensor(String name, StoredType type, List<Long> sizes, long begin, long end) {
    public StoredTensor {
        sizes = List.copyOf(sizes);
    }

    /** Bytes of all elements. */
    public long byteCount() {
        return end - begin;
    }

    /** How many elements there are. */
    public long elementCount() {
        return byteCount() * Byte.SIZE / type.elementBits(); // exact
    }

    /** Whether the tensor has exactly this shape. */
    public boolean hasShape(Shape shape) {
        if (sizes.size() != shape.rank()) {
            return false;
        }
        for (int dimension = 0; dimension < shape.rank(); dimension++) {
            if (sizes.get(dimension) != shape.size(dimension)) {
                return false;
            }
        }
        return true;
    }

    /** The shape as messages show it, in the form of {@link Shape}. */
    public String shapeText() {
        return sizes.stream().map(String::valueOf).collect(Collectors.joining(" x ", "[", "]"));
    }
}
