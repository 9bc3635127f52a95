package dev.troupe.engine.reference;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** An engine with helpers for tests: tensors from numbers, and numbers from tensors. */
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

    Tensor random(int... sizes) {
        Tensor tensor = zeros(sizes);
        double[] numbers = new double[(int) tensor.shape().elementCount()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = random.nextGaussian();
        }
        write(tensor, numbers);
        return tensor;
    }

    Tensor of(double[] numbers, int... sizes) {
        Tensor tensor = zeros(sizes);
        write(tensor, numbers);
        return tensor;
    }

    Tensor ints(int... numbers) {
        Tensor tensor = engine.allocate(DataType.INT32, Shape.of(numbers.length));
        engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    void write(Tensor tensor, double... numbers) {
        if (tensor.dataType() == DataType.FLOAT64) {
            engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        } else {
            float[] floats = new float[numbers.length];
            for (int i = 0; i < floats.length; i++) {
                floats[i] = (float) numbers[i];
            }
            engine.copyFromHost(MemorySegment.ofArray(floats), tensor, 0);
        }
    }

    double[] read(Tensor tensor) {
        int count = (int) tensor.shape().elementCount();
        double[] numbers = new double[count];
        if (tensor.dataType() == DataType.FLOAT64) {
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
        } else {
            float[] floats = new float[count];
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(floats));
            for (int i = 0; i < count; i++) {
                numbers[i] = floats[i];
            }
        }
        return numbers;
    }

    @Override
    public void close() {
        engine.close();
    }
}
