package dev.troupe.engine.cpu;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.kernel.Elementwise;
import dev.troupe.engine.cpu.kernel.Optimizers;
import dev.troupe.engine.cpu.kernel.Sums;
import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.loop.WorkerPool;
import dev.troupe.engine.cpu.memory.CpuMemory;
import dev.troupe.engine.cpu.memory.CpuTensor;
import dev.troupe.engine.cpu.memory.GrowingMemory;
import dev.troupe.engine.digest.TensorDigest;
import dev.troupe.engine.fallback.FallbackEngine;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** The part of the engine that treats a tensor as a flat array: memory, and elementwise kernels. */
abstract class FlatKernels implements FallbackEngine {
    final CpuMemory memory = new CpuMemory();
    final WorkerPool pool;
    final GrowingMemory scratch;
    private final DataType computeType;
    private final TensorDigest digest = new TensorDigest(this);

    /** An engine without tensors, and with one helper less than its threads. */
    FlatKernels(EngineSettings settings) {
        computeType = settings.computeType();
        pool = new WorkerPool(settings.threads());
        scratch = new GrowingMemory(settings.threads());
    }

    @Override
    public DataType parameterType() {
        return DataType.FLOAT32;
    }

    @Override
    public DataType computeType() {
        return computeType;
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        return memory.allocate(dataType, shape);
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        return CpuTensor.range(CpuTensor.of(buffer), first, shape);
    }

    @Override
    public Tensor beginning(Tensor buffer, Shape shape) {
        return CpuTensor.beginning(CpuTensor.of(buffer), shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        target.copyFrom(CpuTensor.of(source).elements().asSlice(byteOffset, target.byteSize()));
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        CpuTensor.changing(target).elements().asSlice(byteOffset, source.byteSize()).copyFrom(source);
    }

    @Override
    public Optional<MemorySegment> hostMemory(Tensor tensor) {
        return Optional.of(CpuTensor.changing(tensor).elements());
    }

    @Override
    public void fill(Tensor tensor, double value) {
        CpuTensor own = CpuTensor.changing(tensor);
        long at = own.address();
        pool.share(own.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Elements.fill(at + 4 * from, (float) value, count));
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        CpuTensor from = CpuTensor.of(source);
        CpuTensor to = CpuTensor.changing(target);
        pool.share(from.byteCount(), Elementwise.GRAIN * Float.BYTES,
                (first, bytes, member) -> MemorySegment.copy(from.elements(), first, to.elements(), first, bytes));
    }

    @Override
    public void cast(Tensor source, Tensor target) {
        CpuTensor from = CpuTensor.of(source);
        CpuTensor to = CpuTensor.changing(target);
        pool.share(from.elementCount(), Elementwise.GRAIN,
                (first, count, member) -> Elementwise.cast(from, to, first, count));
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        CpuTensor a = CpuTensor.of(left);
        CpuTensor b = CpuTensor.of(right);
        CpuTensor c = CpuTensor.changing(sum);
        scratch.require(Elementwise.SCRATCH_BYTES);
        pool.share(a.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Elementwise.add(a, b, c, from, count, scratch.of(member)));
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        CpuTensor own = CpuTensor.changing(tensor);
        long at = own.address();
        pool.share(own.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Elements.scale(at + 4 * from, (float) factor, count));
    }

    @Override
    public void sum(Tensor tensor, Tensor sums, int index) {
        CpuTensor own = CpuTensor.of(tensor);
        CpuTensor.changing(sums).elements().setAtIndex(ValueLayout.JAVA_DOUBLE, index,
                Sums.ofBlocks(pool, own.address(), own.elementCount(), false));
    }

    @Override
    public void squaredSum(Tensor tensor, Tensor sums, int index) {
        CpuTensor own = CpuTensor.of(tensor);
        CpuTensor.changing(sums).elements().setAtIndex(ValueLayout.JAVA_DOUBLE, index,
                Sums.ofBlocks(pool, own.address(), own.elementCount(), true));
    }

    @Override
    public void digest(Tensor tensor, Tensor digests, int index) {
        digest.write(tensor, digests, index);
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        CpuTensor own = CpuTensor.changing(weights);
        long w = own.address();
        long g = CpuTensor.changing(gradients).address();
        long first = CpuTensor.changing(firstMoment).address();
        long second = CpuTensor.changing(secondMoment).address();
        Optimizers.AdamFactors factors = Optimizers.AdamFactors.of(update);
        update(own, operands, (from, count) -> Optimizers.adamW(w + 4 * from, g + 4 * from, first + 4 * from,
                second + 4 * from, factors, count));
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale,
            Tensor operands) {
        CpuTensor own = CpuTensor.changing(weights);
        long w = own.address();
        long g = CpuTensor.changing(gradients).address();
        update(own, operands, (from, count) -> Optimizers.sgd(w + 4 * from, g + 4 * from, (float) learningRate,
                (float) weightDecay, (float) gradientScale, count));
    }

    @Override
    public void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        CpuTensor own = CpuTensor.changing(weights);
        long w = own.address();
        long g = CpuTensor.changing(gradients).address();
        long v = CpuTensor.changing(velocity).address();
        update(own, operands, (from, count) -> Optimizers.sgdMomentum(w + 4 * from, g + 4 * from, v + 4 * from,
                update, count));
    }

    @FunctionalInterface
    private interface Update {
        void of(long from, int count);
    }

    /** Updates weights piece by piece; operands of products are written while the piece is in the cache. */
    private void update(CpuTensor weights, Tensor operands, Update update) {
        CpuTensor rounded = operands == null ? null : CpuTensor.changing(operands);
        pool.share(weights.elementCount(), Elementwise.GRAIN, (from, count, member) -> {
            update.of(from, count);
            if (rounded != null) {
                Elementwise.cast(weights, rounded, from, count);
            }
        });
    }

    @Override
    public void close() {
        memory.close();
        pool.close();
        scratch.close();
    }
}
