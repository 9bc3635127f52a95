package dev.troupe.engine.structural;

import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A tensor without memory that counts its bytes. A range or a beginning counts none, since its buffer is counted. */
final class StructuralTensor extends EngineTensor {
    private final boolean isRange;
    private final AtomicLong allocatedBytes;
    private final AtomicBoolean isCounted = new AtomicBoolean();

    private StructuralTensor(DataType dataType, Shape shape, boolean isRange, AtomicLong allocatedBytes) {
        super(dataType, shape);
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

    static StructuralTensor beginning(StructuralTensor buffer, Shape shape) {
        return new StructuralTensor(buffer.dataType, shape, false, buffer.allocatedBytes);
    }

    boolean isRange() {
        return isRange;
    }

    @Override
    public void close() {
        if (isCounted.compareAndSet(true, false)) {
            allocatedBytes.addAndGet(-byteCount());
        }
    }
}
