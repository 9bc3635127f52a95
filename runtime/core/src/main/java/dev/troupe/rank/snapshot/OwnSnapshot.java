package dev.troupe.rank.snapshot;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.protocol.replica.SnapshotWritings;
import dev.troupe.shard.StateTensor;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.copy.SnapshotLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A snapshot in memory of this process, which other processes may map. One lock protects it. The writing of a whole state
 * holds it to the end, a read or write of a part only for its copy. Thread rule: any thread.
 */
final class OwnSnapshot implements Snapshot {
    /** A tensor that this rank writes to files: its name, and its part of the whole. */
    record OfFiles(String name, TensorSlice slice) {
    }

    private final SnapshotLayout layout;
    private final Arena arena;
    private final Optional<SharedMemory> shared;
    private final SnapshotHeader header;
    private final MemorySegment memory;
    /** Written under the lock. The header repeats it for processes that have mapped the memory. */
    private final SnapshotWritings writings = new SnapshotWritings();
    private Optional<List<OfFiles>> ofFiles = Optional.empty();

    /** @param sharesMemory whether other processes can map the snapshot, if the system has memory for that */
    OwnSnapshot(SnapshotLayout layout, boolean sharesMemory) {
        this.layout = layout;
        this.arena = Arena.ofShared();
        long token = ThreadLocalRandom.current().nextLong();
        byte[] encoded = sharesMemory ? layout.encode() : new byte[0];
        long bytes = SnapshotHeader.bytes(encoded.length) + layout.byteCount();
        this.shared = sharesMemory ? SharedMemory.allocate(bytes, token) : Optional.empty();
        MemorySegment all = shared.map(SharedMemory::segment)
                .orElseGet(() -> arena.allocate(bytes, SnapshotLayout.ALIGNMENT));
        this.header = new SnapshotHeader(all);
        header.claim(token, encoded);
        this.memory = header.content();
    }

    /** Returns the address of the memory for other processes; empty if they cannot map it. */
    Optional<SharedSnapshot> shared() {
        return shared.map(SharedMemory::shared);
    }

    @Override
    public boolean isOwn() {
        return true;
    }

    @Override
    public boolean isBy(SharedSnapshot other) {
        return false;
    }

    @Override
    public SnapshotLayout layout() {
        return layout;
    }

    @Override
    public long stepsDone() {
        return writings.stepsDone();
    }

    synchronized void write(Engine engine, List<StateTensor> state, long afterSteps) {
        begin(afterSteps);
        Fence updated = engine.fence();
        List<Fence> copied = new ArrayList<>();
        for (StateTensor named : state) {
            if (!named.copy() || !isWritten(named, state)) {
                copied.add(named.values().toHost(engine, slice(layout.regions().get(named.name())), updated));
            }
        }
        copied.forEach(Fence::await);
        ofFiles = Optional.of(state.stream().filter(named -> !named.copy())
                .map(named -> new OfFiles(named.name(), named.slice())).toList());
        finish();
    }

    @Override
    public synchronized Optional<List<OfFiles>> ofFiles() {
        return ofFiles;
    }

    /** Whether another tensor of the list writes the same region. */
    private static boolean isWritten(StateTensor copy, List<StateTensor> state) {
        return state.stream().anyMatch(other -> !other.copy() && other.name().equals(copy.name()));
    }

    private MemorySegment slice(SnapshotLayout.Region region) {
        return memory.asSlice(region.offset(), region.byteCount());
    }

    /** Begins to overwrite the snapshot; returns the number of this writing. */
    synchronized long begin(long afterSteps) {
        ofFiles = Optional.empty();
        long begun = writings.begin(afterSteps);
        header.begin(begun, afterSteps);
        return begun;
    }

    private void finish() {
        header.finish();
        writings.end();
    }

    @Override
    public synchronized boolean isSince(long steps) {
        return writings.isSince(steps);
    }

    @Override
    public synchronized long writingOf(long afterSteps) {
        return writings.writingOf(afterSteps);
    }

    /** Writes a part; returns false if another writing has begun since. */
    synchronized boolean put(long ofWriting, long offset, MemorySegment source) {
        boolean isOurs = writings.isInProgress(ofWriting);
        if (isOurs) {
            memory.asSlice(offset, source.byteSize()).copyFrom(source);
        }
        return isOurs;
    }

    /** Marks the state as complete; returns false if another writing has begun since. */
    synchronized boolean finish(long ofWriting) {
        boolean isOurs = writings.isInProgress(ofWriting);
        if (isOurs) {
            finish();
        }
        return isOurs;
    }

    @Override
    public synchronized boolean get(long ofWriting, long offset, MemorySegment target) {
        boolean isComplete = writings.isWhole(ofWriting);
        if (isComplete) {
            target.copyFrom(memory.asSlice(offset, target.byteSize()));
        }
        return isComplete;
    }

    /** Frees the memory; processes that have mapped it keep the state. */
    @Override
    public synchronized void close() {
        ofFiles = Optional.empty();
        writings.begin(-1);
        arena.close();
        shared.ifPresent(SharedMemory::close);
    }
}
