package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.cpu.loop.Bfloats;
import dev.troupe.engine.cpu.loop.Elements;
import dev.troupe.engine.cpu.memory.CpuTensor;
import java.lang.foreign.MemorySegment;

/** Sums and casts of tensors, some elements at a time, and the number of elements in a piece of work. */
public final class Elementwise {
    /** Floats of a piece of work: enough to be worth a wake-up, few enough to stay in the cache. */
    public static final int GRAIN = 16384;
    /** Floats that are widened together: few enough for the first cache. */
    private static final int BLOCK = 1024;
    public static final long SCRATCH_BYTES = 2 * 4L * BLOCK;

    private Elementwise() {
    }

    /** The sums of {@code count} elements, from index {@code first} on. */
    public static void add(CpuTensor left, CpuTensor right, CpuTensor sum, long first, int count, long scratch) {
        for (int from = 0; from < count; from += BLOCK) {
            int floats = Math.min(BLOCK, count - from);
            long a = left.read(first + from, floats, scratch);
            long to = sum.target(first + from, scratch);
            Elements.add(a, right.read(first + from, floats, scratch + 4L * BLOCK), to, floats);
            sum.written(first + from, floats, to);
        }
    }

    /** {@code count} elements of a tensor, from index {@code first} on, in the type of another. */
    public static void cast(CpuTensor source, CpuTensor target, long first, int count) {
        if (source.dataType() == target.dataType()) {
            long bytes = source.dataType().elementBytes();
            MemorySegment.copy(source.elements(), first * bytes, target.elements(), first * bytes, count * bytes);
        } else if (source.isNarrow()) {
            Bfloats.widen(source.addressOf(first), target.addressOf(first), count);
        } else {
            Bfloats.narrow(source.addressOf(first), target.addressOf(first), count);
        }
    }
}
