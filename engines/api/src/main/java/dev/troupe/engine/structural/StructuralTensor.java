package dev.troupe.engine.structural;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A tensor without memory: it is counted as if it had some. A range is not, since its buffer is. */
final class StructuralTensor implements Tensor {
    private final DataType dataType;
    private final Shape shape;
    private final boolean isRange;
    private final AtomicLong allocatedBytes;
    private final AtomicBoolean isCounted = new AtomicBoolean();

    private StructuralTensor(DataType dataType, Shape shape, boolean isRange, AtomicLong allocatedBytes) {
        this.dataType = dataType;
        this.shape = shape;
        this.isRange = isRange;
        this.allocatedBytes = allocatedBytes;
    }

    static StructuralTensor counted(DataType dataType, Shape shape, AtomicLong allocatedBytes) {
        StructuralTensor tensor = new StructuralTensor(dataType, shape, false, allocatedBytes);
        tensor.isCounted.set(true);
        allocatedBytes.addAndGet(tensor.byteCount());
        return tensor;
    }

    static StructuralTensor range(StructuralTensor buffer, Shape shape) {
        return new StructuralTensor(buffer.dataType, shape, true, buffer.allocatedBytes);
    }

    boolean isRange() {
        return isRange;
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
        if (isCounted.compareAndSet(true, false)) {
            allocatedBytes.addAndGet(-byteCount());
        }
    }
}
