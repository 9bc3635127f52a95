package dev.troupe.stage;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.shard.StateTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Copies of tensors by way of host memory. */
final class HostCopies {
    private HostCopies() {
    }

    static void copy(Engine from, Tensor tensor, Engine to, Tensor target) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(tensor.byteCount(), Double.BYTES);
            from.copyToHost(tensor, 0, bytes);
            to.copyFromHost(bytes, target, 0);
        }
    }

    /** Copies tensors to another stage with the same ones. */
    static void copyAll(Engine from, List<StateTensor> tensors, Engine to, List<StateTensor> targets) {
        for (int index = 0; index < tensors.size(); index++) {
            copy(from, tensors.get(index).tensor(), to, targets.get(index).tensor());
        }
    }

    /** Returns the values of tensors by name; for a tied table the stage with the embedding comes first. */
    static Map<String, double[]> values(List<Engine> engines, List<List<StateTensor>> tensors) {
        Map<String, double[]> values = new TreeMap<>();
        for (int stage = 0; stage < engines.size(); stage++) {
            for (StateTensor named : tensors.get(stage)) {
                values.putIfAbsent(named.name(), read(engines.get(stage), named.tensor()));
            }
        }
        return values;
    }

    /** Writes values into memory of a type; FLOAT32 values were floats before. */
    static void write(double[] values, DataType type, MemorySegment target) {
        for (int i = 0; i < values.length; i++) {
            if (type == DataType.FLOAT32) {
                target.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) values[i]);
            } else {
                target.setAtIndex(ValueLayout.JAVA_DOUBLE, i, values[i]);
            }
        }
    }

    /** Returns the values of a tensor of FLOAT32 or FLOAT64. */
    static double[] read(Engine engine, Tensor tensor) {
        double[] values = new double[Math.toIntExact(tensor.shape().elementCount())];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(tensor.byteCount(), Double.BYTES);
            engine.copyToHost(tensor, 0, bytes);
            for (int i = 0; i < values.length; i++) {
                values[i] = tensor.dataType() == DataType.FLOAT32
                        ? bytes.getAtIndex(ValueLayout.JAVA_FLOAT, i)
                        : bytes.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
            }
        }
        return values;
    }
}
