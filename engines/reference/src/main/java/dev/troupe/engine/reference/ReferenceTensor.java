package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.HostNumbers;
import java.lang.foreign.MemorySegment;

/**
 * A tensor on the Java heap. Float elements are kept in a {@code double[]} whatever their type, so that one piece of
 * maths serves all; between kernels each element is exactly a number of the tensor's type.
 *
 * <p>A range has an array of its own, since kernels compute on whole arrays: it is filled from the buffer before a kernel
 * ({@link #of}) and written back after it ({@link #settle}).
 */
final class ReferenceTensor extends EngineTensor {
    private final ReferenceMemory owner;
    /** The tensor with the elements: this one, or the one of which this is a range. */
    private final ReferenceTensor buffer;
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

    /** The array of the elements; a kernel calls {@link #settle} after it has written it. */
    double[] floats() {
        return floats;
    }

    /** The array of the integers; a kernel calls {@link #settle} after it has written it. */
    int[] ints() {
        return ints;
    }

    /** An operand of a kernel, with its current contents. */
    static ReferenceTensor of(Tensor operand) {
        ReferenceTensor own = (ReferenceTensor) operand;
        own.refresh();
        return own;
    }

    private void refresh() {
        if (buffer == this) {
            return;
        }
        switch (dataType) {
            case FLOAT32, FLOAT64, BFLOAT16 -> System.arraycopy(buffer.floats(), start, floats, 0, floats.length);
            case INT32 -> System.arraycopy(buffer.ints(), start, ints, 0, ints.length);
        }
    }

    /** Rounds the float64 results of a kernel to the type of this tensor, and copies a range into its buffer. */
    void settle() {
        if (dataType == DataType.INT32) {
            if (buffer != this) {
                System.arraycopy(ints(), 0, buffer.ints(), start, ints.length);
            }
            return;
        }
        HostNumbers.round(dataType, floats());
        if (buffer != this) {
            System.arraycopy(floats(), 0, buffer.floats(), start, floats.length);
        }
    }

    void copyTo(long byteOffset, MemorySegment target) {
        int first = firstElement(byteOffset);
        if (dataType == DataType.INT32) {
            HostNumbers.store(buffer.ints(), first, target);
        } else {
            HostNumbers.store(dataType, buffer.floats(), first, target);
        }
    }

    void copyFrom(MemorySegment source, long byteOffset) {
        int first = firstElement(byteOffset);
        if (dataType == DataType.INT32) {
            HostNumbers.load(source, buffer.ints(), first);
        } else {
            HostNumbers.load(dataType, source, buffer.floats(), first);
        }
    }

    /** The index in the buffer at which a byte range begins. */
    private int firstElement(long byteOffset) {
        return start + (int) (byteOffset / dataType.elementBytes());
    }
}
