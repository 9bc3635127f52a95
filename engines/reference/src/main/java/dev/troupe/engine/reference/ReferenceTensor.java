package dev.troupe.engine.reference;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A tensor on the Java heap. Float elements are kept in a {@code double[]} whatever their type, so that one piece of
 * maths serves all; between kernels each element of a FLOAT32 tensor is exactly a float, and of a BFLOAT16 tensor
 * exactly one of its numbers.
 *
 * <p>A range has an array of its own for the kernels, which know whole arrays only: it is filled from the buffer before a
 * kernel ({@link #of}) and written back after it ({@link #settle}).
 */
final class ReferenceTensor extends EngineTensor {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final ReferenceMemory owner;
    /** The tensor whose elements these are: itself, or the one it is a range of. */
    private final ReferenceTensor buffer;
    /** The element of the buffer that this begins with. */
    private final int start;
    /** Null when closed, or when the elements are integers. */
    private volatile double[] floats;
    /** Null when closed, or when the elements are floats. */
    private volatile int[] ints;

    ReferenceTensor(ReferenceMemory owner, DataType dataType, Shape shape) {
        super(dataType, shape);
        this.owner = owner;
        this.buffer = this;
        this.start = 0;
        allocate();
    }

    /** A range of another tensor, which holds it. */
    ReferenceTensor(ReferenceTensor whole, long first, Shape shape) {
        super(whole.dataType, shape);
        this.owner = whole.owner;
        this.buffer = whole.buffer;
        this.start = Math.toIntExact(whole.start + first);
        allocate();
    }

    private void allocate() {
        int elements = (int) shape.elementCount();
        switch (dataType) {
            case FLOAT32, FLOAT64, BFLOAT16 -> floats = new double[elements];
            case INT32 -> ints = new int[elements];
        }
    }

    @Override
    public void close() {
        owner.release(this);
    }

    /** Called by the owner, once. */
    void drop() {
        floats = null;
        ints = null;
    }

    /** The elements themselves. A kernel that writes them calls {@link #settle} when it is done. */
    double[] floats() {
        return floats;
    }

    /** The elements themselves. A kernel that writes them calls {@link #settle} when it is done. */
    int[] ints() {
        return ints;
    }

    /** An operand of a kernel, as it is now. */
    static ReferenceTensor of(Tensor operand) {
        ReferenceTensor own = (ReferenceTensor) operand;
        own.refresh();
        return own;
    }

    /** Has a range show what its buffer holds now. */
    private void refresh() {
        if (buffer == this) {
            return;
        }
        switch (dataType) {
            case FLOAT32, FLOAT64, BFLOAT16 -> System.arraycopy(buffer.floats(), start, floats, 0, floats.length);
            case INT32 -> System.arraycopy(buffer.ints(), start, ints, 0, ints.length);
        }
    }

    /** Rounds what a kernel computed in float64 to the type of this tensor, and puts a range into its buffer. */
    void settle() {
        switch (dataType) {
            case FLOAT32 -> {
                double[] elements = floats();
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = (float) elements[i];
                }
            }
            case BFLOAT16 -> {
                double[] elements = floats();
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = Bfloat16.round(elements[i]);
                }
            }
            case FLOAT64, INT32 -> {
                // Kept as it is computed.
            }
        }
        if (buffer != this) {
            switch (dataType) {
                case FLOAT32, FLOAT64, BFLOAT16 -> System.arraycopy(floats, 0, buffer.floats(), start, floats.length);
                case INT32 -> System.arraycopy(ints, 0, buffer.ints(), start, ints.length);
            }
        }
    }

    void copyTo(long byteOffset, MemorySegment target) {
        int first = firstElement(byteOffset);
        switch (dataType) {
            case FLOAT32 -> {
                double[] elements = buffer.floats();
                for (int i = 0; i < target.byteSize() / Float.BYTES; i++) {
                    target.setAtIndex(FLOAT, i, (float) elements[first + i]);
                }
            }
            case FLOAT64 -> MemorySegment.copy(buffer.floats(), first, target, DOUBLE, 0,
                    (int) (target.byteSize() / Double.BYTES));
            case INT32 ->
                MemorySegment.copy(buffer.ints(), first, target, INT, 0, (int) (target.byteSize() / Integer.BYTES));
            case BFLOAT16 -> {
                double[] elements = buffer.floats();
                for (int i = 0; i < target.byteSize() / Short.BYTES; i++) {
                    target.setAtIndex(SHORT, i, Bfloat16.of((float) elements[first + i]));
                }
            }
        }
    }

    void copyFrom(MemorySegment source, long byteOffset) {
        int first = firstElement(byteOffset);
        switch (dataType) {
            case FLOAT32 -> {
                double[] elements = buffer.floats();
                for (int i = 0; i < source.byteSize() / Float.BYTES; i++) {
                    elements[first + i] = source.getAtIndex(FLOAT, i);
                }
            }
            case FLOAT64 -> MemorySegment.copy(source, DOUBLE, 0, buffer.floats(), first,
                    (int) (source.byteSize() / Double.BYTES));
            case INT32 ->
                MemorySegment.copy(source, INT, 0, buffer.ints(), first, (int) (source.byteSize() / Integer.BYTES));
            case BFLOAT16 -> {
                double[] elements = buffer.floats();
                for (int i = 0; i < source.byteSize() / Short.BYTES; i++) {
                    elements[first + i] = Bfloat16.toFloat(source.getAtIndex(SHORT, i));
                }
            }
        }
    }

    /** Where in the buffer a byte range begins. */
    private int firstElement(long byteOffset) {
        return start + (int) (byteOffset / dataType.elementBytes());
    }
}
