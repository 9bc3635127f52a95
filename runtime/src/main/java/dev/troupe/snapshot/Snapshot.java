package dev.troupe.snapshot;

import dev.troupe.engine.Engine;
import dev.troupe.model.StateTensor;
import dev.troupe.parallel.TensorSlice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The state of one stage of a rank after so many steps, in host memory that is used again for a later state. What is
 * written or read in parts names the writing that it belongs to: once another has begun, it has no part in it any more.
 *
 * <p>Thread rule: any thread. A writing of a whole state holds up other parts for so long, a part for the time of its copy.
 */
final class Snapshot implements AutoCloseable {
    /** A tensor that files have from here: its name, and what of the whole it is. */
    record OfFiles(String name, TensorSlice slice) {
    }

    private final SnapshotLayout layout;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    /** -1 while nothing whole stands here. Written under the lock. */
    private volatile long stepsDone = -1;
    private long writing;
    /** After how many steps what is being written, or was last, is. */
    private long writingAfter = -1;
    private Optional<List<OfFiles>> ofFiles = Optional.empty();

    Snapshot(SnapshotLayout layout) {
        this.layout = layout;
        this.memory = arena.allocate(layout.byteCount(), SnapshotLayout.ALIGNMENT);
    }

    SnapshotLayout layout() {
        return layout;
    }

    /** Of what stands here; negative while that is nothing whole. Waits for nobody. */
    long stepsDone() {
        return stepsDone;
    }

    /** Copies a state over the one that is here. */
    synchronized void write(Engine engine, List<StateTensor> state, long afterSteps) {
        begin(afterSteps);
        for (StateTensor named : state) {
            if (!named.copy() || !isWritten(named, state)) {
                engine.copyToHost(named.tensor(), 0, slice(layout.regions().get(named.name())));
            }
        }
        ofFiles = Optional.of(state.stream().filter(named -> !named.copy())
                .map(named -> new OfFiles(named.name(), named.slice())).toList());
        stepsDone = afterSteps;
    }

    /** What files have of what stands here; empty for a copy, which came without. */
    synchronized Optional<List<OfFiles>> ofFiles() {
        return ofFiles;
    }

    /** Whether another tensor of the list writes the same region. */
    private static boolean isWritten(StateTensor copy, List<StateTensor> state) {
        return state.stream().anyMatch(other -> !other.copy() && other.name().equals(copy.name()));
    }

    private MemorySegment slice(SnapshotLayout.Region region) {
        return memory.asSlice(region.offset(), region.byteCount());
    }

    /** Begins to write over what is here; returns the number of this writing. */
    synchronized long begin(long afterSteps) {
        stepsDone = -1;
        writingAfter = afterSteps;
        ofFiles = Optional.empty();
        return ++writing;
    }

    /** Whether what stands here, or is to, is the state after so many steps or more. */
    synchronized boolean isSince(long steps) {
        return writingAfter >= steps;
    }

    /** Which writing made what stands here; negative where that is not the state after so many steps. */
    synchronized long writingOf(long afterSteps) {
        return stepsDone == afterSteps ? writing : -1;
    }

    /** Writes a part; false where another writing has begun since. */
    synchronized boolean put(long ofWriting, long offset, MemorySegment source) {
        boolean isOurs = ofWriting == writing && stepsDone < 0;
        if (isOurs) {
            memory.asSlice(offset, source.byteSize()).copyFrom(source);
        }
        return isOurs;
    }

    /** Says that all parts are here; false where another writing has begun since. */
    synchronized boolean finish(long ofWriting, long afterSteps) {
        boolean isOurs = ofWriting == writing && stepsDone < 0;
        if (isOurs) {
            stepsDone = afterSteps;
        }
        return isOurs;
    }

    /** Reads a part of what a writing made; false where it does not stand any more. */
    synchronized boolean get(long ofWriting, long offset, MemorySegment target) {
        boolean stands = ofWriting == writing && stepsDone >= 0;
        if (stands) {
            target.copyFrom(memory.asSlice(offset, target.byteSize()));
        }
        return stands;
    }

    /** Frees the memory; whoever still reads or writes a part hears that it has none. */
    @Override
    public synchronized void close() {
        begin(-1);
        arena.close();
    }
}
