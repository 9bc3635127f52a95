package dev.troupe.engine.reference;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.Ranges;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The half of the engine to which a tensor is a row of elements, whatever its shape: memory, and the kernels that take
 * elements one by one.
 */
abstract class FlatKernels implements Engine {
    private final DataType parameterType;
    private final DataType computeType;
    private final ReferenceMemory memory = new ReferenceMemory();

    FlatKernels(EngineSettings settings) {
        this.parameterType = settings.parameterType();
        this.computeType = settings.computeType();
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
        return memory.allocate(dataType, shape);
    }

    @Override
    public Tensor range(Tensor buffer, long first, Shape shape) {
        ReferenceTensor whole = operands("range").own("buffer", buffer);
        Ranges.requireWithin(whole, first, shape);
        return new ReferenceTensor(whole, first, shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        operands("copyToHost").own("source", source).copyTo(byteOffset, target);
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        operands("copyFromHost").own("target", target).copyFrom(source, byteOffset);
    }

    @Override
    public void fill(Tensor tensor, double value) {
        ReferenceTensor own = operands("fill").anyFloats("tensor", tensor);
        Arrays.fill(own.floats(), value);
        own.settle();
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        Operands operands = operands("copy");
        ReferenceTensor from = operands.own("source", source);
        ReferenceTensor to = operands.exactly("target", target, from.dataType(), from.shape());
        switch (from.dataType()) {
            case FLOAT32, FLOAT64, BFLOAT16 -> System.arraycopy(from.floats(), 0, to.floats(), 0, from.floats().length);
            case INT32 -> System.arraycopy(from.ints(), 0, to.ints(), 0, from.ints().length);
        }
        to.settle();
    }

    @Override
    public void cast(Tensor source, Tensor target) {
        Operands operands = operands("cast");
        ReferenceTensor from = operands.either("source", source);
        ReferenceTensor to = operands.either("target", target);
        operands.require(to.shape().equals(from.shape()), "target", "must be " + from.shape(), target);
        System.arraycopy(from.floats(), 0, to.floats(), 0, from.floats().length);
        to.settle();
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        Operands operands = operands("add");
        ReferenceTensor a = operands.either("left", left);
        ReferenceTensor b = operands.like("right", right, a);
        ReferenceTensor out = operands.like("sum", sum, a);
        double[] terms = a.floats();
        double[] others = b.floats();
        double[] sums = out.floats();
        for (int i = 0; i < sums.length; i++) {
            sums[i] = terms[i] + others[i];
        }
        out.settle();
    }

    @Override
    public void scale(Tensor tensor, double factor) {
        ReferenceTensor own = operands("scale").anyFloats("tensor", tensor);
        double[] elements = own.floats();
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
        own.settle();
    }

    @Override
    public double sum(Tensor tensor) {
        double total = 0;
        for (double element : operands("sum").anyFloats("tensor", tensor).floats()) {
            total += element;
        }
        return total;
    }

    @Override
    public double squaredSum(Tensor tensor) {
        double total = 0;
        for (double element : operands("squaredSum").anyFloats("tensor", tensor).floats()) {
            total += element * element;
        }
        return total;
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update) {
        Operands operands = operands("adamW");
        ReferenceTensor w = operands.anyFloats("weights", weights);
        ReferenceTensor g = operands.like("gradients", gradients, w);
        ReferenceTensor first = operands.like("firstMoment", firstMoment, w);
        ReferenceTensor second = operands.like("secondMoment", secondMoment, w);
        operands.apart("weights", w, g, first, second);
        operands.apart("firstMoment", first, g, second);
        operands.apart("secondMoment", second, g);
        Optimizers.adamW(w.floats(), g.floats(), first.floats(), second.floats(), update);
        w.settle();
        g.settle();
        first.settle();
        second.settle();
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale) {
        Operands operands = operands("sgd");
        ReferenceTensor w = operands.anyFloats("weights", weights);
        ReferenceTensor g = operands.like("gradients", gradients, w);
        operands.apart("weights", w, g);
        Optimizers.sgd(w.floats(), g.floats(), learningRate, weightDecay, gradientScale);
        w.settle();
        g.settle();
    }

    @Override
    public void close() {
        memory.close();
    }

    Operands operands(String kernel) {
        return new Operands(memory, parameterType, computeType, kernel);
    }
}
