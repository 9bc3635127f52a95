package dev.troupe.engine;

/**
 * A dense row-major array in memory that its {@link Engine} owns. Two tensors share memory only if one is a
 * {@link Engine#range} or {@link Engine#beginning} of the other, or both are views of a third.
 *
 * <p>Thread rule: as for its engine. Using a closed tensor is an error of the caller.
 */
public interface Tensor extends AutoCloseable {
    DataType dataType();

    Shape shape();

    /** The size of all elements. */
    default long byteCount() {
        return Math.multiplyExact(shape().elementCount(), (long) dataType().elementBytes());
    }

    /** Frees the memory at once. Closing twice has no effect. */
    @Override
    void close();
}
