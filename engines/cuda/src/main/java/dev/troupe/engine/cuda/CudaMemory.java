package dev.troupe.engine.cuda;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceStream;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The register of an engine's tensors that are allocated and not closed. Any thread. */
final class CudaMemory {
    private final Device device;
    private final DeviceStream stream;
    private final Set<CudaTensor> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong allocatedBytes = new AtomicLong();

    CudaMemory(Device device, DeviceStream stream) {
        this.device = device;
        this.stream = stream;
    }

    Device device() {
        return device;
    }

    CudaTensor allocate(DataType dataType, Shape shape) {
        long bytes = Math.multiplyExact(shape.elementCount(), (long) dataType.elementBytes());
        CudaTensor tensor = new CudaTensor(this, dataType, shape, stream.allocate(bytes));
        stream.clear(tensor.address(), bytes);
        open.add(tensor);
        allocatedBytes.addAndGet(bytes);
        return tensor;
    }

    /** Called by the tensor, once. */
    void release(CudaTensor tensor) {
        if (open.remove(tensor)) {
            allocatedBytes.addAndGet(-tensor.byteCount());
            stream.free(tensor.address());
        }
    }

    long allocatedBytes() {
        return allocatedBytes.get();
    }

    void close() {
        List.copyOf(open).forEach(CudaTensor::close);
    }
}
