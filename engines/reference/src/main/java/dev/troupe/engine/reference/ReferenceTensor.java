package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A tensor on the Java heap. Float elements are kept in a {@code double[]} whatever their type, so that one piece of
 * maths serves both; between kernels each element of a FLOAT32 tensor is exactly a float.
 */
final class ReferenceTensor implements Tensor {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final ReferenceMemory owner;
    private final DataType dataType;
    private final Shape shape;
    /** Null when closed, or when the elements are integers. */
    private volatile double[] floats;
    /** Null when closed, or when the elements are floats. */
    private volatile int[] ints;

    ReferenceTensor(ReferenceMemory owner, DataType dataType, Shape shape) {
        this.owner = owner;
        this.dataType = dataType;
        this.shape = shape;
        int elements = Math.toIntExact(shape.elementCount());
        switch (dataType) {
            case FLOAT32, FLOAT64 -> floats = new double[elements];
            case INT32 -> ints = new int[elements];
        }
    }

    @Override
    public DataType dataType() {
        return dataType;
    }

    @Override
    public Shape shape() {
        return shape;
    }

    @Override
    public void close() {
        owner.release(this);
    }

    ReferenceMemory owner() {
        return owner;
    }

    /** Called by the owner, once. */
    void drop() {
        floats = null;
        ints = null;
    }

    boolean isClosed() {
        return floats == null && ints == null;
    }

    /** The elements themselves. A kernel that writes them calls {@link #settle} when it is done. */
    double[] floats() {
        double[] elements = floats;
        if (elements == null) {
            throw isClosed() ? closed() : new IllegalArgumentException("a tensor of " + dataType + " has no floats");
        }
        return elements;
    }

    /** The elements themselves. */
    int[] ints() {
        int[] elements = ints;
        if (elements == null) {
            throw isClosed() ? closed() : new IllegalArgumentException("a tensor of " + dataType + " has no integers");
        }
        return elements;
    }

    int size(int dimension) {
        return shape.size(dimension);
    }

    /** Rounds what a kernel computed in float64 to the type of this tensor. */
    void settle() {
        if (dataType == DataType.FLOAT32) {
            double[] elements = floats();
            for (int i = 0; i < elements.length; i++) {
                elements[i] = (float) elements[i];
            }
        }
    }

    void copyTo(long byteOffset, MemorySegment target) {
        int first = firstElement("copyToHost", byteOffset, target.byteSize());
        switch (dataType) {
            case FLOAT32 -> {
                double[] elements = floats();
                for (int i = 0; i < target.byteSize() / Float.BYTES; i++) {
                    target.setAtIndex(FLOAT, i, (float) elements[first + i]);
                }
            }
            case FLOAT64 -> MemorySegment.copy(floats(), first, target, DOUBLE, 0,
                    (int) (target.byteSize() / Double.BYTES));
            case INT32 -> MemorySegment.copy(ints(), first, target, INT, 0, (int) (target.byteSize() / Integer.BYTES));
        }
    }

    void copyFrom(MemorySegment source, long byteOffset) {
        int first = firstElement("copyFromHost", byteOffset, source.byteSize());
        switch (dataType) {
            case FLOAT32 -> {
                double[] elements = floats();
                for (int i = 0; i < source.byteSize() / Float.BYTES; i++) {
                    elements[first + i] = source.getAtIndex(FLOAT, i);
                }
            }
            case FLOAT64 -> MemorySegment.copy(source, DOUBLE, 0, floats(), first,
                    (int) (source.byteSize() / Double.BYTES));
            case INT32 -> MemorySegment.copy(source, INT, 0, ints(), first, (int) (source.byteSize() / Integer.BYTES));
        }
    }

    /** The index of the first element of a byte range, which must lie in the tensor and on whole elements. */
    private int firstElement(String call, long byteOffset, long bytes) {
        if (byteOffset < 0 || bytes > byteCount() - byteOffset) {
            throw new IllegalArgumentException("%s: %d bytes from byte %d do not lie in a tensor of %d bytes (%s %s)"
                    .formatted(call, bytes, byteOffset, byteCount(), dataType, shape));
        }
        int elementBytes = dataType.elementBytes();
        if (byteOffset % elementBytes != 0 || bytes % elementBytes != 0) {
            throw new IllegalArgumentException(
                    "%s: %d bytes from byte %d cut an element; both must be multiples of the %d bytes of %s"
                            .formatted(call, bytes, byteOffset, elementBytes, dataType));
        }
        return (int) (byteOffset / elementBytes);
    }

    IllegalStateException closed() {
        return new IllegalStateException("a tensor of %s %s is used after it was closed".formatted(dataType, shape));
    }
}
