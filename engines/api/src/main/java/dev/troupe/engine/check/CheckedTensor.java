package dev.troupe.engine.check;

import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A tensor of a checked engine: the engine's own tensor, with its owner, its state (open or closed) and its place in a
 * buffer.
 */
final class CheckedTensor extends EngineTensor {
    private static final ValueLayout.OfInt ID = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final CheckedMemory owner;
    private final Tensor own;
    /** The tensor that owns the elements: this one, or the one of which this is a range. */
    private final CheckedTensor buffer;
    private final long first;
    /** The integers that the host has written to a buffer of INT32; null for other types and engines without values. */
    private final int[] ids;
    private volatile boolean isClosed;

    CheckedTensor(CheckedMemory owner, Tensor own) {
        super(own.dataType(), own.shape());
        this.owner = owner;
        this.own = own;
        this.buffer = this;
        this.first = 0;
        this.ids = own.dataType() == DataType.INT32 && owner.holdsValues()
                ? new int[Math.toIntExact(own.shape().elementCount())]
                : null;
    }

    CheckedTensor(CheckedTensor whole, long first, Tensor own) {
        super(own.dataType(), own.shape());
        this.owner = whole.owner;
        this.own = own;
        this.buffer = whole.buffer;
        this.first = whole.first + first;
        this.ids = whole.ids;
    }

    /** Remembers ids that are copied to this tensor, so that a check does not read them back from the engine. */
    void noteIds(MemorySegment source, long byteOffset) {
        if (ids != null) {
            int at = Math.toIntExact(first + byteOffset / Integer.BYTES);
            int count = Math.toIntExact(source.byteSize() / Integer.BYTES);
            for (int i = 0; i < count; i++) {
                ids[at + i] = source.getAtIndex(ID, i);
            }
        }
    }

    /** Remembers ids that are copied from another tensor of this shape. */
    void noteIds(CheckedTensor source) {
        if (ids != null) {
            System.arraycopy(source.ids, (int) source.first, ids, (int) first, (int) shape.elementCount());
        }
    }

    /** An id of this tensor, as it was copied there. */
    int id(int index) {
        return ids[(int) first + index];
    }

    Tensor own() {
        return own;
    }

    CheckedMemory owner() {
        return owner;
    }

    boolean isClosed() {
        return buffer.isClosed;
    }

    boolean overlaps(CheckedTensor other) {
        return buffer == other.buffer && first < other.first + other.shape.elementCount()
                && other.first < first + shape.elementCount();
    }

    @Override
    public void close() {
        isClosed = true; // no effect on a range, which is closed with its buffer
        own.close();
    }
}
