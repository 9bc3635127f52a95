package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cuda.device.Device;
import java.util.concurrent.atomic.AtomicBoolean;

/** A tensor in the memory of a device, or a range of one. */
final class CudaTensor extends EngineTensor {
    private final CudaMemory owner;
    private final long address;
    private final boolean isRange;
    private final AtomicBoolean closed = new AtomicBoolean();

    CudaTensor(CudaMemory owner, DataType dataType, Shape shape, long address) {
        super(dataType, shape);
        this.owner = owner;
        this.address = address;
        this.isRange = false;
    }

    CudaTensor(CudaTensor buffer, long first, Shape shape) {
        super(buffer.dataType, shape);
        this.owner = buffer.owner;
        this.address = buffer.address + first * dataType.elementBytes();
        this.isRange = true;
    }

    static CudaTensor of(Tensor operand) {
        return (CudaTensor) operand;
    }

    /** The address of the first element on the device. */
    long address() {
        return address;
    }

    Device device() {
        return owner.device();
    }

    long elementCount() {
        return shape.elementCount();
    }

    @Override
    public void close() {
        if (!isRange && closed.compareAndSet(false, true)) {
            owner.release(this);
        }
    }
}
