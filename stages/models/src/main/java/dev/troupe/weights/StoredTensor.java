package dev.troupe.weights;

import dev.troupe.engine.Shape;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The description of one tensor in a safetensors header, after it was checked.
 *
 * @param name the key in the header
 * @param sizes the dimensions, outermost first; none for a scalar, and any of them may be 0
 * @param begin first byte, counted from the end of the header
 * @param end byte after the last
 */
public record StoredTensor(String name, StoredType type, List<Long> sizes, long begin, long end) {
    public StoredTensor {
        sizes = List.copyOf(sizes);
    }

    public long byteCount() {
        return end - begin;
    }

    public long elementCount() {
        return byteCount() * Byte.SIZE / type.elementBits(); // exact
    }

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

    /** Returns the shape for messages, in the form of {@link Shape}. */
    public String shapeText() {
        return sizes.stream().map(String::valueOf).collect(Collectors.joining(" x ", "[", "]"));
    }
}
