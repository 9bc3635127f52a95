package dev.troupe.engine;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The sizes of a tensor's dimensions, outermost first. Immutable. */
public final class Shape {
    private final int[] sizes;
    private final long elementCount;

    private Shape(int[] sizes) {
        this.sizes = sizes;
        long count = 1;
        for (int size : sizes) {
            if (size < 1) {
                throw new IllegalArgumentException("every dimension of a shape must be at least 1, but found "
                        + Arrays.toString(sizes));
            }
            if (Math.multiplyHigh(count, size) != 0 || count * size < 0) {
                throw new TooManyElementsException(Arrays.stream(sizes).asLongStream().toArray());
            }
            count *= size;
        }
        this.elementCount = count;
    }

    /**
     * A shape with these sizes; each at least 1.
     *
     * @throws TooManyElementsException if the number of elements does not fit in 64 bits
     */
    public static Shape of(int... sizes) {
        return new Shape(sizes.clone());
    }

    /**
     * The shape of {@code elementCount} elements in one row.
     *
     * @throws TooManyElementsException if their number does not fit in 32 bits
     */
    public static Shape row(long elementCount) {
        if (elementCount > TooManyElementsException.MOST) {
            throw new TooManyElementsException(elementCount);
        }
        return of((int) elementCount);
    }

    public int rank() {
        return sizes.length;
    }

    /** The size of one dimension, 0 being the outermost. */
    public int size(int dimension) {
        return sizes[dimension];
    }

    /** The product of all sizes. */
    public long elementCount() {
        return elementCount;
    }

    public int[] toArray() {
        return sizes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shape that && Arrays.equals(sizes, that.sizes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(sizes);
    }

    @Override
    public String toString() {
        return Arrays.stream(sizes).mapToObj(Integer::toString).collect(Collectors.joining(" x ", "[", "]"));
    }
}
