package dev.troupe.engine.reference;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.digest.TensorDigest;
import dev.troupe.engine.provider.EngineSettings;
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
    private final TensorDigest digest = new TensorDigest(this);

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
        return new ReferenceTensor((ReferenceTensor) buffer, first, shape);
    }

    @Override
    public long allocatedBytes() {
        return memory.allocatedBytes();
    }

    @Override
    public void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        ((ReferenceTensor) source).copyTo(byteOffset, target);
    }

    @Override
    public void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        ((ReferenceTensor) target).copyFrom(source, byteOffset);
    }

    @Override
    public void fill(Tensor tensor, double value) {
        ReferenceTensor own = ReferenceTensor.of(tensor);
        Arrays.fill(own.floats(), value);
        own.settle();
    }

    @Override
    public void copy(Tensor source, Tensor target) {
        ReferenceTensor from = ReferenceTensor.of(source);
        ReferenceTensor to = ReferenceTensor.of(target);
        switch (from.dataType()) {
            case FLOAT32, FLOAT64, BFLOAT16 -> System.arraycopy(from.floats(), 0, to.floats(), 0, from.floats().length);
            case INT32 -> System.arraycopy(from.ints(), 0, to.ints(), 0, from.ints().length);
        }
        to.settle();
    }

    @Override
    public void cast(Tensor source, Tensor target) {
        ReferenceTensor from = ReferenceTensor.of(source);
        ReferenceTensor to = ReferenceTensor.of(target);
        System.arraycopy(from.floats(), 0, to.floats(), 0, from.floats().length);
        to.settle();
    }

    @Override
    public void add(Tensor left, Tensor right, Tensor sum) {
        ReferenceTensor a = ReferenceTensor.of(left);
        ReferenceTensor b = ReferenceTensor.of(right);
        ReferenceTensor out = ReferenceTensor.of(sum);
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
        ReferenceTensor own = ReferenceTensor.of(tensor);
        double[] elements = own.floats();
        for (int i = 0; i < elements.length; i++) {
            elements[i] *= factor;
        }
        own.settle();
    }

    @Override
    public void sum(Tensor tensor, Tensor sums, int index) {
        double total = 0;
        for (double element : ReferenceTensor.of(tensor).floats()) {
            total += element;
        }
        put(total, sums, index);
    }

    @Override
    public void squaredSum(Tensor tensor, Tensor sums, int index) {
        double total = 0;
        for (double element : ReferenceTensor.of(tensor).floats()) {
            total += element * element;
        }
        put(total, sums, index);
    }

    @Override
    public void digest(Tensor tensor, Tensor digests, int index) {
        digest.write(tensor, digests, index);
    }

    private static void put(double total, Tensor sums, int index) {
        ReferenceTensor own = ReferenceTensor.of(sums);
        own.floats()[index] = total;
        own.settle();
    }

    @Override
    public void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        ReferenceTensor w = ReferenceTensor.of(weights);
        ReferenceTensor g = ReferenceTensor.of(gradients);
        ReferenceTensor first = ReferenceTensor.of(firstMoment);
        ReferenceTensor second = ReferenceTensor.of(secondMoment);
        Optimizers.adamW(w.floats(), g.floats(), first.floats(), second.floats(), update);
        w.settle();
        g.settle();
        first.settle();
        second.settle();
        castTo(operands, weights);
    }

    @Override
    public void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale,
            Tensor operands) {
        ReferenceTensor w = ReferenceTensor.of(weights);
        ReferenceTensor g = ReferenceTensor.of(gradients);
        Optimizers.sgd(w.floats(), g.floats(), learningRate, weightDecay, gradientScale);
        w.settle();
        g.settle();
        castTo(operands, weights);
    }

    @Override
    public void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        ReferenceTensor w = ReferenceTensor.of(weights);
        ReferenceTensor g = ReferenceTensor.of(gradients);
        ReferenceTensor v = ReferenceTensor.of(velocity);
        Optimizers.sgdMomentum(w.floats(), g.floats(), v.floats(), update);
        w.settle();
        g.settle();
        v.settle();
        castTo(operands, weights);
    }

    /** What an update leaves to products, if anything. */
    private void castTo(Tensor operands, Tensor weights) {
        if (operands != null) {
            cast(weights, operands);
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
