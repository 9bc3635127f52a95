package dev.troupe.engine;

/**
 * A dense row-major array in memory that its {@link Engine} owns. Two tensors share memory only where one is a
 * {@link Engine#range} or a {@link Engine#beginning} of the other, or both are of a third; there are no other views.
 *
 * <p>Thread rule: as for the engine that made it. Closing gives the memory back at once; using a closed tensor is an
 * error of the caller.
 */
public interface Tensor extends AutoCloseable {
    DataType dataType();

    Shape shape();

    /** Elements of the tensor times bytes of an element. */
    default long byteCount() {
        return Math.multiplyExact(shape().elementCount(), (long) dataType().elementBytes());
    }

    /** Gives the memory back to the engine. Closing twice has no effect. */
    @Override
    void close();
}
