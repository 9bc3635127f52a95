package dev.troupe.engine.fallback;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;

/** Operands copied from an engine to the host, and outputs copied back. */
final class CopiedOperands implements HostOperands {
    private final Memory memory;
    private final Map<Tensor, double[]> outputs = new LinkedHashMap<>();
    private final Map<Tensor, int[]> idOutputs = new LinkedHashMap<>();

    CopiedOperands(Memory memory) {
        this.memory = memory;
    }

    @Override
    public double[] read(Tensor input) {
        double[] numbers = arrayFor(input);
        try (Arena arena = Arena.ofConfined()) {
            HostNumbers.load(input.dataType(), copied(input, arena), numbers, 0);
        }
        return numbers;
    }

    @Override
    public int[] ids(Tensor input) {
        int[] ids = new int[Math.toIntExact(input.shape().elementCount())];
        try (Arena arena = Arena.ofConfined()) {
            HostNumbers.load(copied(input, arena), ids, 0);
        }
        return ids;
    }

    private MemorySegment copied(Tensor input, Arena arena) {
        MemorySegment bytes = arena.allocate(input.byteCount(), Double.BYTES);
        memory.copyToHost(input, 0, bytes);
        return bytes;
    }

    @Override
    public double[] output(Tensor output) {
        return outputs.computeIfAbsent(output, CopiedOperands::arrayFor);
    }

    @Override
    public int[] idsOutput(Tensor output) {
        return idOutputs.computeIfAbsent(output, of -> new int[Math.toIntExact(of.shape().elementCount())]);
    }

    @Override
    public double[] changed(Tensor output) {
        return outputs.computeIfAbsent(output, this::read);
    }

    @Override
    public void store() {
        outputs.forEach((output, numbers) -> {
            DataType type = output.dataType();
            HostNumbers.round(type, numbers);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(output.byteCount(), Double.BYTES);
                HostNumbers.store(type, numbers, 0, bytes);
                memory.copyFromHost(bytes, output, 0);
            }
        });
        outputs.clear();
        idOutputs.forEach((output, ids) -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment bytes = arena.allocate(output.byteCount(), Integer.BYTES);
                HostNumbers.store(ids, 0, bytes);
                memory.copyFromHost(bytes, output, 0);
            }
        });
        idOutputs.clear();
    }

    private static double[] arrayFor(Tensor tensor) {
        return new double[Math.toIntExact(tensor.shape().elementCount())];
    }
}
