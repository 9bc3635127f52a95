package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.Random;

/** An engine with what a test needs around it: tensors from numbers, and numbers from tensors. */
final class Fixture implements AutoCloseable {
    final ReferenceEngine engine;
    private final Random random;

    Fixture(DataType parameterType, long seed) {
        this.engine = new ReferenceEngine(parameterType);
        this.random = new Random(seed);
    }

    Tensor zeros(int... sizes) {
        return engine.allocate(engine.parameterType(), Shape.of(sizes));
    }

    /** A tensor of normally distributed numbers. */
    Tensor random(int... sizes) {
        Tensor tensor = zeros(sizes);
        double[] numbers = new double[(int) tensor.shape().elementCount()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = random.nextGaussian();
        }
        write(tensor, numbers);
        return tensor;
    }

    /** A tensor of these numbers. */
    Tensor of(double[] numbers, int... sizes) {
        Tensor tensor = zeros(sizes);
        write(tensor, numbers);
        return tensor;
    }

    Tensor ints(int... numbers) {
        Tensor tensor = engine.allocate(DataType.INT32, Shape.of(numbers.length));
        System.arraycopy(numbers, 0, ((ReferenceTensor) tensor).ints(), 0, numbers.length);
        return tensor;
    }

    void write(Tensor tensor, double... numbers) {
        System.arraycopy(numbers, 0, ((ReferenceTensor) tensor).floats(), 0, numbers.length);
        ((ReferenceTensor) tensor).settle();
    }

    double[] read(Tensor tensor) {
        return ((ReferenceTensor) tensor).floats().clone();
    }

    @Override
    public void close() {
        engine.close();
    }
}
