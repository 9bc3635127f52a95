package dev.troupe.engine.bare;

import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.FallbackEngine;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The smallest engine there is: memory, and no kernel. */
public final class BareEngine implements FallbackEngine {
    private final DataType parameterType;
    private final DataType computeType;
    private final Set<BareTensor> open = ConcurrentHashMap.newKeySet();

    public BareEngine(DataType parameterType, DataType computeType) {
        this.parameterType = parameterType;
        this.computeType = computeType;
    }

    private final class BareTensor extends EngineTensor {
        private final MemorySegment bytes;

        BareTensor(DataType dataType, Shape shape, MemorySegment bytes) {
            super(dataType, shape);
            this.bytes = bytes;
        }

        @Override
        public void close() {
            open.remove(this);
        }
    }

    @Override
    public String kind() {
        return "bare";
    }

    @Override
    public DataType parameterType() {
        return parameterType;
    }

    @Override
    public DataType computeType() {
        return computeType;
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        long byteCount = shape.elementCount() * dataType.elementBytes();
        BareTensor tensor = new BareTensor(dataType, shape,
                MemorySegment.ofArray(new byte[Math.toIntExact(byteCount)]));
        open.add(tensor);
        return tensor;
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        int elementBytes = buffer.dataType().elementBytes();
        return new BareTensor(buffer.dataType(), shape, ((BareTensor) buffer).bytes
                .asSlice(first * elementBytes, shape.elementCount() * elementBytes));
    }

    @Override
    public long allocatedBytes() {
        return open.stream().mapToLong(Tensor::byteCount).sum();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        target.copyFrom(((BareTensor) source).bytes.asSlice(byteOffset, target.byteSize()));
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        ((BareTensor) target).bytes.asSlice(byteOffset, source.byteSize()).copyFrom(source);
    }

    @Override
    public void close() {
        open.clear();
    }
}
