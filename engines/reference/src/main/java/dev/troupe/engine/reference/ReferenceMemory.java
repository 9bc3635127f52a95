package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The register of an engine's tensors that are allocated and not closed. Any thread. */
final class ReferenceMemory {
    /** Some JVMs cannot allocate arrays of the very largest sizes. */
    private static final long MOST_ELEMENTS = Integer.MAX_VALUE - 8;

    private final Set<ReferenceTensor> open = ConcurrentHashMap.newKeySet();
    private final AtomicLong allocatedBytes = new AtomicLong();

    ReferenceTensor allocate(DataType dataType, Shape shape) {
        if (shape.elementCount() > MOST_ELEMENTS) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT,
                            "allocate: the reference engine holds at most %d elements in a tensor, but %s "
                                    + "has %d; use another engine",
                            MOST_ELEMENTS, shape, shape.elementCount()));
        }
        ReferenceTensor tensor = new ReferenceTensor(this, dataType, shape);
        open.add(tensor);
        allocatedBytes.addAndGet(tensor.byteCount());
        return tensor;
    }

    void release(ReferenceTensor tensor) {
        if (open.remove(tensor)) {
            allocatedBytes.addAndGet(-tensor.byteCount());
            tensor.drop();
        }
    }

    long allocatedBytes() {
        return allocatedBytes.get();
    }

    void close() {
        open.forEach(this::release);
    }
}
