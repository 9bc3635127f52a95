package dev.troupe.snapshot;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.model.StateTensor;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The state of one stage of a rank after so many steps, in host memory. Its memory is used again for a later state.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Snapshot implements WeightSource {
    private static final int ALIGNMENT = 64;

    private record Region(long offset, long byteCount, Shape shape, DataType type) {
    }

    private final Map<String, Region> regions = new HashMap<>();
    private final MemorySegment memory;
    /** -1 while nothing whole stands here. */
    private long stepsDone = -1;

    Snapshot(Arena arena, List<StateTensor> state) {
        long end = 0;
        for (StateTensor named : state) {
            Region region = new Region(end, named.tensor().byteCount(), named.tensor().shape(),
                    named.tensor().dataType());
            if (regions.putIfAbsent(named.name(), region) == null) { // both ends of a tied table have one name, and the same bits
                end = roundUp(end + region.byteCount());
            }
        }
        this.memory = arena.allocate(end, ALIGNMENT);
    }

    private static long roundUp(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    long stepsDone() {
        return stepsDone;
    }

    /** Whether the writing of it broke off. */
    boolean isBroken() {
        return stepsDone < 0;
    }

    /** Copies a state over the one that is here. */
    void write(Engine engine, List<StateTensor> state, long afterSteps) {
        stepsDone = -1;
        for (StateTensor named : state) {
            if (!named.copy() || !isWritten(named, state)) {
                engine.copyToHost(named.tensor(), 0, slice(regions.get(named.name())));
            }
        }
        stepsDone = afterSteps;
    }

    /** Whether another tensor of the list writes the same region. */
    private static boolean isWritten(StateTensor copy, List<StateTensor> state) {
        return state.stream().anyMatch(other -> !other.copy() && other.name().equals(copy.name()));
    }

    private MemorySegment slice(Region region) {
        return memory.asSlice(region.offset(), region.byteCount());
    }

    @Override
    public void read(String name, Shape shape, DataType floatType, MemorySegment target) {
        Region region = regions.get(name);
        if (region == null || !region.shape().equals(shape) || region.type() != floatType) {
            throw new WeightException("the snapshot was expected to have " + name + " as " + floatType + " " + shape
                    + ", but has " + (region == null ? "nothing" : region.type() + " " + region.shape()));
        }
        target.copyFrom(slice(region));
    }
}
