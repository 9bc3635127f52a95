package dev.troupe.engine.cpu.memory;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The register of an engine's tensors that are allocated and not closed. Any thread. */
public final class CpuMemory {
    private final Set<CpuTensor> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong allocatedBytes = new AtomicLong();

    public CpuTensor allocate(DataType dataType, Shape shape) {
        CpuTensor tensor = new CpuTensor(this, dataType, shape);
        open.add(tensor);
        allocatedBytes.addAndGet(tensor.byteCount());
        return tensor;
    }

    /** Counts additional memory of a tensor, until it is removed. */
    void grew(long bytes) {
        allocatedBytes.addAndGet(bytes);
    }

    void forget(CpuTensor tensor) {
        open.remove(tensor);
        allocatedBytes.addAndGet(-tensor.byteCount() - tensor.packedBytes());
    }

    public long allocatedBytes() {
        return allocatedBytes.get();
    }

    public void close() {
        List.copyOf(open).forEach(CpuTensor::close);
    }
}
