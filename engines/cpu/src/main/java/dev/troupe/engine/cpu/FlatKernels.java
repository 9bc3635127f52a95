package dev.troupe.engine.cpu;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Ranges;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The half of the engine to which a tensor is a row of elements, whatever its shape: memory, and the kernels that take
 * elements one by one.
 */
abstract class FlatKernels implements Engine {
    final CpuMemory memory = new CpuMemory();
    final Crew crew;

    /** With no tensors, and {@code threads - 1} helpers. */
    FlatKernels(int threads) {
        crew = new Crew(threads);
    }

    @Override
    public DataType floatType() {
        return DataType.FLOAT32;
    }

    @Override
    public Tensor allocate(DataType dataType, Shape shape) {
        return memory.allocate(dataType, shape);
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        CpuTensor whole = operands("range").reading().own("buffer", buffer);
        Ranges.requireWithin(whole, first, shape);
        return new CpuTensor(whole, first, shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        Operands operands = operands("copyToHost");
        target.copyFrom(operands.range(operands.reading().own("source", source), byteOffset, target.byteSize()));
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        Operands operands = operands("copyFromHost");
        operands.range(operands.own("target", target), byteOffset, source.byteSize()).copyFrom(source);
    }

    @Override
    public Optional<MemorySegment> hostMemory(Tensor tensor) {
        return Optional.of(operands("hostMemory").own("tensor", tensor).elements());
    }

    @Override
    public void fill(Tensor tensor, double value) {
        CpuTensor own = operands("fill").anyShape("tensor", tensor);
        long at = own.address();
        crew.share(own.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Elementwise.fill(at + 4 * from, (float) value, count));
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        Operands operands = operands("copy");
        CpuTensor from = operands.own("source", source);
        operands.exactly("target", target, from.dataType(), from.shape()).elements().copyFrom(from.elements());
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        Operands operands = operands("add");
        CpuTensor own = operands.anyShape("left", left);
        long a = own.address();
        long b = operands.like("right", right, own).address();
        long c = operands.like("sum", sum, own).address();
        crew.share(own.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Elementwise.add(a + 4 * from, b + 4 * from, c + 4 * from, count));
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        CpuTensor own = operands("scale").anyShape("tensor", tensor);
        long at = own.address();
        crew.share(own.elementCount(), Elementwise.GRAIN,
                (from, count, member) -> Elementwise.scale(at + 4 * from, (float) factor, count));
    }

    @Override
    public double sum(Tensor tensor) {
        CpuTensor own = operands("sum").anyShape("tensor", tensor);
        return Sums.ofBlocks(crew, own.address(), own.elementCount(), false);
    }

    @Override
    public double squaredSum(Tensor tensor) {
        CpuTensor own = operands("squaredSum").anyShape("tensor", tensor);
        return Sums.ofBlocks(crew, own.address(), own.elementCount(), true);
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update) {
        Operands operands = operands("adamW");
        CpuTensor own = operands.anyShape("weights", weights);
        long w = own.address();
        long g = operands.like("gradients", gradients, own).address();
        long first = operands.like("firstMoment", firstMoment, own).address();
        long second = operands.like("secondMoment", secondMoment, own).address();
        Optimizers.AdamFactors factors = Optimizers.AdamFactors.of(update);
        crew.share(own.elementCount(), Elementwise.GRAIN, (from, count, member) -> Optimizers.adamW(w + 4 * from,
                g + 4 * from, first + 4 * from, second + 4 * from, factors, count));
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale) {
        Operands operands = operands("sgd");
        CpuTensor own = operands.anyShape("weights", weights);
        long w = own.address();
        long g = operands.like("gradients", gradients, own).address();
        crew.share(own.elementCount(), Elementwise.GRAIN, (from, count, member) -> Optimizers.sgd(w + 4 * from,
                g + 4 * from, (float) learningRate, (float) weightDecay, (float) gradientScale, count));
    }

    /** Closing twice has no effect. */
    @Override
    public void close() {
        memory.close();
        crew.close();
    }

    Operands operands(String kernel) {
        return new Operands(memory, kernel);
    }
}
