package dev.troupe.engine.conformance;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** One case on one engine, with its tensors. Closing it closes them. */
final class Trial implements AutoCloseable {
    private final Engine engine;
    private final KernelCase kernelCase;
    private final Tensor[] tensors;

    Trial(Engine engine, KernelCase kernelCase) {
        this.engine = engine;
        this.kernelCase = kernelCase;
        this.tensors = kernelCase.operands().stream()
                .map(operand -> engine.allocate(operand.integers() ? DataType.INT32 : engine.floatType(),
                        operand.shape().apply(engine)))
                .toArray(Tensor[]::new);
        reset(numbers -> numbers);
    }

    /** Puts back what the tensors hold before the call, each array of floats changed in one way. */
    void reset(UnaryOperator<double[]> change) {
        for (int i = 0; i < tensors.length; i++) {
            Operand operand = kernelCase.operands().get(i);
            if (operand.initial() == null) {
                double[] nothing = new double[(int) tensors[i].shape().elementCount()];
                Arrays.fill(nothing, Double.NaN);
                HostMemory.write(engine, tensors[i], nothing);
            } else {
                HostMemory.write(engine, tensors[i],
                        operand.integers() ? operand.initial() : change.apply(operand.initial()));
            }
        }
    }

    void prepare() {
        kernelCase.preparation().call(engine, tensors);
    }

    void run() {
        kernelCase.kernel().call(engine, tensors);
    }

    /** Calls the kernel with another tensor in one place. */
    void runWith(int operand, Tensor other) {
        Tensor[] changed = tensors.clone();
        changed[operand] = other;
        kernelCase.kernel().call(engine, changed);
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
    }
}
