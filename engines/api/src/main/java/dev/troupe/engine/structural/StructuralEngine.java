package dev.troupe.engine.structural;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.TooManyElementsException;
import dev.troupe.engine.fallback.FallbackEngine;
import dev.troupe.engine.fallback.HostOperands;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * An engine that computes nothing: its tensors have shapes and no memory. Each kernel calls {@link #work} with its
 * {@link Cost}, or the kernels that define it. Sums are 0.
 */
public abstract class StructuralEngine implements FallbackEngine {
    private final DataType parameterType;
    private final DataType computeType;
    private final AtomicLong allocatedBytes = new AtomicLong();

    protected StructuralEngine(DataType parameterType, DataType computeType) {
        this.parameterType = parameterType;
        this.computeType = computeType;
    }

    /** Called for each kernel; the contents of its operands are meaningless. */
    protected abstract void work(Kernel kernel, Cost cost);

    /** Counts bytes in addition to tensors. */
    protected final void keep(long bytes) {
        allocatedBytes.addAndGet(bytes);
    }

    /** Whether a tensor of this engine is a range. */
    protected static boolean isRange(Tensor tensor) {
        return ((StructuralTensor) tensor).isRange();
    }

    @Override
    public final DataType parameterType() {
        return parameterType;
    }

    @Override
    public final DataType computeType() {
        return computeType;
    }

    @Override
    public final boolean holdsValues() {
        return false;
    }

    @Override
    public final Tensor allocate(DataType dataType, Shape shape) {
        TooManyElementsException.check(shape);
        return StructuralTensor.counted(dataType, shape, allocatedBytes);
    }

    @Override
    public final Tensor range(Tensor buffer, long first, Shape shape) {
        return StructuralTensor.range((StructuralTensor) buffer, shape);
    }

    @Override
    public final Tensor beginning(Tensor buffer, Shape shape) {
        return StructuralTensor.beginning((StructuralTensor) buffer, shape);
    }

    @Override
    public long allocatedBytes() {
        return allocatedBytes.get();
    }

    @Override
    public final void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        work(Kernel.COPY_TO_HOST, Cost.NO_PRODUCT);
    }

    @Override
    public final void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        work(Kernel.COPY_FROM_HOST, Cost.NO_PRODUCT);
    }

    @Override
    public final void fallBack(Kernel kernel, Consumer<HostOperands> definition) {
        work(kernel, Cost.NO_PRODUCT);
    }

    @Override
    public final void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        work(Kernel.MATMUL, Cost.Product.of(right, transposeRight, product));
    }

    @Override
    public final void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        work(Kernel.LINEAR, Cost.Product.of(weight, transposeWeight, y));
    }

    /** Every expert may have all rows. */
    @Override
    public final void segmentMatmul(Tensor x, Tensor segments, List<Tensor> weights, boolean transposeWeights,
            Tensor y) {
        weights.forEach(weight -> work(Kernel.SEGMENT_MATMUL, Cost.Product.of(weight, transposeWeights, y)));
    }

    @Override
    public final void segmentMatmulBackward(Tensor dy, Tensor x, Tensor segments, List<Tensor> dWeights) {
        dWeights.forEach(dWeight -> work(Kernel.SEGMENT_MATMUL_BACKWARD, Cost.Product.of(x, false, dWeight)));
    }

    @Override
    public final void close() {
        // There is no memory to give back.
    }
}
