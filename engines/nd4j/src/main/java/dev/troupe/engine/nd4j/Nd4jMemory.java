package dev.troupe.engine.nd4j;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.nd4j.linalg.api.concurrency.AffinityManager;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/** The tensors of one engine. Any thread. */
final class Nd4jMemory {
    private final Set<Nd4jTensor> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong allocatedBytes = new AtomicLong();

    Nd4jTensor allocate(DataType dataType, Shape shape) {
        INDArray elements = Nd4j.create(nd4jType(dataType), shape.elementCount());
        Nd4jTensor tensor = new Nd4jTensor(this, dataType, shape, elements);
        open.add(tensor);
        allocatedBytes.addAndGet(tensor.byteCount());
        return tensor;
    }

    void forget(Nd4jTensor tensor) {
        open.remove(tensor);
        allocatedBytes.addAndGet(-tensor.byteCount());
    }

    long allocatedBytes() {
        return allocatedBytes.get();
    }

    void close() {
        List.copyOf(open).forEach(Nd4jTensor::close);
    }

    static org.nd4j.linalg.api.buffer.DataType nd4jType(DataType dataType) {
        return switch (dataType) {
            case FLOAT32 -> org.nd4j.linalg.api.buffer.DataType.FLOAT;
            case FLOAT64 -> org.nd4j.linalg.api.buffer.DataType.DOUBLE;
            case INT32 -> org.nd4j.linalg.api.buffer.DataType.INT32;
            case BFLOAT16 -> throw new IllegalArgumentException("the nd4j engine has no tensors of BFLOAT16");
        };
    }

    /** The elements in host memory: the buffer itself on a CPU, its updated host copy on a GPU. */
    @SuppressWarnings("restricted")
    static MemorySegment hostBytes(Nd4jTensor tensor) {
        Nd4j.getExecutioner().commit();
        Nd4j.getAffinityManager().ensureLocation(tensor.flat(), AffinityManager.Location.HOST);
        long address = tensor.flat().data().addressPointer().address();
        return MemorySegment.ofAddress(address).reinterpret(tensor.byteCount());
    }

    /** Records that {@link #hostBytes} were written, so that a GPU fetches them before it computes. */
    static void hostBytesWritten(Nd4jTensor tensor) {
        Nd4j.getAffinityManager().tagLocation(tensor.flat(), AffinityManager.Location.HOST);
    }
}
