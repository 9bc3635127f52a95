package dev.troupe.sum;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.HostNumbers;
import java.lang.foreign.MemorySegment;

/** A reader of the numbers of tensors, block by block. Thread rule: as for kernels. */
public final class HostReader {
    private static final int BLOCK = 1 << 12;

    private final Engine engine;
    private final double[] numbers = new double[BLOCK];
    private final MemorySegment bytes = MemorySegment.ofArray(new long[BLOCK]);

    /** The receiver of the first numbers of an array. */
    @FunctionalInterface
    public interface Block {
        void accept(double[] some, int count);
    }

    public HostReader(Engine engine) {
        this.engine = engine;
    }

    /** Reads a tensor of floats, after all work of the engine on it; no block if only sizes count. */
    public void read(Tensor tensor, Block block) {
        if (!engine.holdsValues()) {
            return;
        }
        int elementBytes = tensor.dataType().elementBytes();
        for (long at = 0; at < tensor.byteCount(); at += (long) BLOCK * elementBytes) {
            MemorySegment some = bytes.asSlice(0, Math.min((long) BLOCK * elementBytes, tensor.byteCount() - at));
            engine.copyToHost(tensor, at, some);
            HostNumbers.load(tensor.dataType(), some, numbers, 0);
            block.accept(numbers, Math.toIntExact(some.byteSize() / elementBytes));
        }
    }
}
