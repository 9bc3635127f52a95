package dev.troupe.engine.forward;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** The memory of a forwarding engine: that of the other engine. */
abstract class ForwardingMemory implements Engine {
    final Engine engine;

    ForwardingMemory(Engine engine) {
        this.engine = engine;
    }

    /**
     * A call begins, on the thread that makes it.
     *
     * @return what {@link #ends} is given of this call
     */
    protected abstract long begins(Kernel kernel);

    /** A call has returned. A call that throws has no end. */
    protected abstract void ends(Kernel kernel, long begun);

    @Override
    public String kind() {
        return engine.kind();
    }

    @Override
    public DataType parameterType() {
        return engine.parameterType();
    }

    @Override
    public DataType computeType() {
        return engine.computeType();
    }

    @Override
    public boolean holdsValues() {
        return engine.holdsValues();
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        long begun = begins(Kernel.ALLOCATE);
        Tensor result = engine.allocate(dataType, shape);
        ends(Kernel.ALLOCATE, begun);
        return result;
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        return engine.range(buffer, first, shape);
    }

    @Override
    public Tensor beginning(Tensor buffer, Shape shape) {
        return engine.beginning(buffer, shape);
    }

    @Override
    public long bytesKeptBeside(Shape range, long rows) {
        return engine.bytesKeptBeside(range, rows);
    }

    @Override
    public long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return engine.productScratchBytes(m, k, n, isRange, product);
    }

    @Override
    public long allocatedBytes() {
        return engine.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        long begun = begins(Kernel.COPY_TO_HOST);
        engine.copyToHost(source, byteOffset, target);
        ends(Kernel.COPY_TO_HOST, begun);
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        long begun = begins(Kernel.COPY_FROM_HOST);
        engine.copyFromHost(source, target, byteOffset);
        ends(Kernel.COPY_FROM_HOST, begun);
    }

    @Override
    public boolean computesLate() {
        return engine.computesLate();
    }

    @Override
    public Fence fence() {
        return engine.fence();
    }

    @Override
    public Instants instants(int count) {
        return engine.instants(count);
    }

    @Override
    public Fence toHost(Tensor source, long byteOffset, MemorySegment target, Fence after) {
        long begun = begins(Kernel.COPY_TO_HOST);
        Fence result = engine.toHost(source, byteOffset, target, after);
        ends(Kernel.COPY_TO_HOST, begun);
        return result;
    }

    @Override
    public Fence fromHost(MemorySegment source, Tensor target, long byteOffset, Fence after) {
        long begun = begins(Kernel.COPY_FROM_HOST);
        Fence result = engine.fromHost(source, target, byteOffset, after);
        ends(Kernel.COPY_FROM_HOST, begun);
        return result;
    }

    @Override
    public Optional<Fence> takeFrom(Tensor source, Tensor target, long byteOffset, long byteCount) {
        return engine.takeFrom(source, target, byteOffset, byteCount);
    }

    @Override
    public Optional<Shared> share(long byteCount) {
        return engine.share(byteCount);
    }

    @Override
    public Optional<Shared> openShared(byte[] handle) {
        return engine.openShared(handle);
    }

    @Override
    public Optional<Fence> toShared(Tensor source, long byteOffset, long byteCount, Shared target,
            long targetOffset) {
        return engine.toShared(source, byteOffset, byteCount, target, targetOffset);
    }

    @Override
    public Optional<Fence> fromShared(Shared source, long sourceOffset, Tensor target, long byteOffset,
            long byteCount) {
        return engine.fromShared(source, sourceOffset, target, byteOffset, byteCount);
    }

    @Override
    public void waitFor(Fence other) {
        engine.waitFor(other);
    }

    @Override
    public boolean reaches(List<Tensor> tensors) {
        return engine.reaches(tensors);
    }

    @Override
    public void reduce(List<Tensor> sources, long sourceFirst, List<Tensor> targets, long targetFirst, long count,
            boolean largest) {
        engine.reduce(sources, sourceFirst, targets, targetFirst, count, largest);
    }

    @Override
    public Optional<MemorySegment> hostMemory(Tensor tensor) {
        return engine.hostMemory(tensor);
    }

    @Override
    public void close() {
        engine.close();
    }
}
