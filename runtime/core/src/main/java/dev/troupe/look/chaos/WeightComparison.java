package dev.troupe.look.chaos;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.weights.SafeTensors;
import dev.troupe.weights.huggingface.TensorFiles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Optional;

public final class WeightComparison {
    private WeightComparison() {
    }

    /**
     * Returns the first difference of two safetensors files, or of their shards, as text. It is empty if all names, types,
     * shapes and bits of tensors are equal.
     */
    public static Optional<String> firstDifference(Path expected, Path found) {
        try (TensorFiles one = TensorFiles.open(expected); TensorFiles other = TensorFiles.open(found)) {
            if (!one.byTensor().keySet().equals(other.byTensor().keySet())) {
                return Optional.of("the models have tensors of different names");
            }
            for (String name : one.byTensor().keySet()) {
                SafeTensors wanted = one.byTensor().get(name);
                SafeTensors is = other.byTensor().get(name);
                if (wanted.tensor(name).type() != is.tensor(name).type()
                        || !wanted.tensor(name).sizes().equals(is.tensor(name).sizes())) {
                    return Optional.of("tensor " + name + " has another type or shape");
                }
                long mismatch = wanted.bytes(name).mismatch(is.bytes(name));
                if (mismatch >= 0) {
                    return Optional.of("tensor " + name + " differs from byte " + mismatch + " on");
                }
            }
            return Optional.empty();
        }
    }

    /**
     * Returns the norm of the difference of all tensors, divided by the norm of all expected ones, in float64.
     *
     * @throws IllegalArgumentException if the files have tensors of different names or shapes
     */
    public static double relativeDistance(Path expected, Path found) {
        try (TensorFiles one = TensorFiles.open(expected); TensorFiles other = TensorFiles.open(found)) {
            if (!one.byTensor().keySet().equals(other.byTensor().keySet())) {
                throw new IllegalArgumentException("the models have tensors of different names");
            }
            double difference = 0;
            double size = 0;
            for (String name : one.byTensor().keySet()) {
                SafeTensors expectedFile = one.byTensor().get(name);
                Shape shape = Shape.of(
                        expectedFile.tensor(name).sizes().stream().mapToInt(Math::toIntExact).toArray());
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment wanted = arena.allocate(ValueLayout.JAVA_DOUBLE, shape.elementCount());
                    MemorySegment is = arena.allocate(ValueLayout.JAVA_DOUBLE, shape.elementCount());
                    expectedFile.read(name, shape, DataType.FLOAT64, wanted);
                    other.byTensor().get(name).read(name, shape, DataType.FLOAT64, is);
                    for (long i = 0; i < shape.elementCount(); i++) {
                        double value = wanted.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
                        double error = is.getAtIndex(ValueLayout.JAVA_DOUBLE, i) - value;
                        difference += error * error;
                        size += value * value;
                    }
                }
            }
            return Math.sqrt(difference / Math.max(size, Double.MIN_NORMAL));
        }
    }
}
