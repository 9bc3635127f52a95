package dev.troupe.engine.cpu;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/** A tensor in native memory, on a boundary of 64 bytes. */
final class CpuTensor implements Tensor {
    private final CpuMemory owner;
    private final DataType dataType;
    private final Shape shape;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment elements;
    private final AtomicBoolean closed = new AtomicBoolean();

    CpuTensor(CpuMemory owner, DataType dataType, Shape shape) {
        this.owner = owner;
        this.dataType = dataType;
        this.shape = shape;
        this.elements = arena.allocate(byteCount(), Lanes.ALIGNMENT);
    }

    @Override
    public DataType dataType() {
        return dataType;
    }

    @Override
    public Shape shape() {
        return shape;
    }

    CpuMemory owner() {
        return owner;
    }

    boolean isClosed() {
        return closed.get();
    }

    int size(int dimension) {
        return shape.size(dimension);
    }

    long elementCount() {
        return shape.elementCount();
    }

    /** Where the first element is; valid until the tensor is closed. */
    long address() {
        return elements.address();
    }

    /** The elements, for whoever needs a check of life with each access. */
    MemorySegment elements() {
        return elements;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            owner.forget(this);
            arena.close();
        }
    }
}
