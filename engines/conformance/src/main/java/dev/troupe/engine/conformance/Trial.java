package dev.troupe.engine.conformance;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** One case on one engine, with its tensors. Closing it closes them. */
final class Trial implements AutoCloseable {
    private final Engine engine;
    private final KernelCase kernelCase;
    private final DataType computeType;
    private final Tensor[] tensors;
    /** The buffers of the tensors, if these are ranges. */
    private final List<Tensor> buffers = new ArrayList<>();

    Trial(Engine engine, KernelCase kernelCase) {
        this(engine, kernelCase, engine.computeType(), 0);
    }

    /**
     * A trial with contents rounded to a product type, perhaps of another engine. Tensors are ranges with {@code margin}
     * elements before and after each; 0: no ranges.
     */
    Trial(Engine engine, KernelCase kernelCase, DataType computeType, int margin) {
        this.engine = engine;
        this.kernelCase = kernelCase;
        this.computeType = computeType;
        this.tensors = kernelCase.operands().stream()
                .map(operand -> tensor(operand.elements().on(engine), operand.shape().apply(engine), margin))
                .toArray(Tensor[]::new);
        reset(numbers -> numbers);
    }

    private Tensor tensor(DataType dataType, Shape shape, int margin) {
        if (margin == 0) {
            return engine.allocate(dataType, shape);
        }
        Tensor buffer = engine.allocate(dataType, Shape.of((int) shape.elementCount() + 2 * margin));
        buffers.add(buffer);
        return engine.range(buffer, margin, shape);
    }

    /** Whether all elements around the ranges are still zero. */
    boolean marginsAreUntouched(int margin) {
        return buffers.stream().map(buffer -> HostMemory.read(engine, buffer)).allMatch(
                numbers -> IntStream.range(0, margin).allMatch(
                        i -> numbers[i] == 0 && numbers[numbers.length - 1 - i] == 0));
    }

    /** Restores the contents before the call, each array of floats after a change. */
    void reset(UnaryOperator<double[]> change) {
        for (int i = 0; i < tensors.length; i++) {
            Operand operand = kernelCase.operands().get(i);
            if (operand.initial() == null) {
                double[] nothing = new double[(int) tensors[i].shape().elementCount()];
                Arrays.fill(nothing, Double.NaN);
                HostMemory.write(engine, tensors[i], nothing);
            } else {
                double[] initial = operand.initial(computeType);
                HostMemory.write(engine, tensors[i],
                        operand.elements() == Operand.Elements.INTEGERS ? initial : change.apply(initial));
            }
        }
    }

    void prepare() {
        kernelCase.preparation().call(engine, tensors);
    }

    void run() {
        kernelCase.kernel().call(engine, tensors);
    }

    void runWith(int operand, Tensor other) {
        Tensor[] changed = tensors.clone();
        changed[operand] = other;
        kernelCase.kernel().call(engine, changed);
    }

    Tensor[] tensors() {
        return tensors;
    }

    Tensor tensor(int operand) {
        return tensors[operand];
    }

    double[] numbers(int operand) {
        return HostMemory.read(engine, tensors[operand]);
    }

    byte[][] bytes() {
        return Arrays.stream(tensors).map(tensor -> HostMemory.bytes(engine, tensor)).toArray(byte[][]::new);
    }

    @Override
    public void close() {
        for (Tensor tensor : tensors) {
            tensor.close();
        }
        buffers.forEach(Tensor::close);
    }
}
