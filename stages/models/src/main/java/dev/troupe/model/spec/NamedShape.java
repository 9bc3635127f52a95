package dev.troupe.model.spec;

import dev.troupe.engine.Shape;
import java.util.List;

/**
 * A shape with an axis for each dimension. Immutable.
 *
 * @param dimensions outermost first, each of another axis
 */
public record NamedShape(List<Dimension> dimensions) {
    /** A number of indices of an axis. */
    public record Dimension(Axis axis, int size) {
    }

    public NamedShape {
        dimensions = List.copyOf(dimensions);
        if (dimensions.stream().map(Dimension::axis).distinct().count() != dimensions.size()) {
            throw new IllegalArgumentException("a shape needs an axis for each dimension, but found " + dimensions);
        }
    }

    public static NamedShape of(Axis axis, int size) {
        return new NamedShape(List.of(new Dimension(axis, size)));
    }

    public static NamedShape of(Axis rows, int rowCount, Axis columns, int columnCount) {
        return new NamedShape(List.of(new Dimension(rows, rowCount), new Dimension(columns, columnCount)));
    }

    public Shape sizes() {
        return Shape.of(dimensions.stream().mapToInt(Dimension::size).toArray());
    }

    /** Returns the number of elements, which may be more than a tensor can have. */
    public long elementCount() {
        return dimensions.stream().mapToLong(Dimension::size).reduce(1, Math::multiplyExact);
    }

    public int dimensionOf(Axis axis) {
        for (int dimension = 0; dimension < dimensions.size(); dimension++) {
            if (dimensions.get(dimension).axis() == axis) {
                return dimension;
            }
        }
        throw new IllegalArgumentException("the shape " + dimensions + " has no axis " + axis);
    }
}
