package dev.troupe.engine.emulated;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** A tensor without memory: it is counted as if it had some. */
final class EmulatedTensor implements Tensor {
    private final DataType dataType;
    private final Shape shape;
    private final AtomicLong allocatedBytes;
    private final AtomicBoolean open = new AtomicBoolean(true);

    EmulatedTensor(DataType dataType, Shape shape, AtomicLong allocatedBytes) {
        this.dataType = dataType;
        this.shape = shape;
        this.allocatedBytes = allocatedBytes;
        allocatedBytes.addAndGet(byteCount());
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
        if (open.compareAndSet(true, false)) {
            allocatedBytes.addAndGet(-byteCount());
        }
    }
}
