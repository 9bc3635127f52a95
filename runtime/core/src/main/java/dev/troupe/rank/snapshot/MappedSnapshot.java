package dev.troupe.rank.snapshot;

import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.copy.SnapshotLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * A snapshot of another process on this machine, mapped from its memory. Writes of its rank are visible here at once, and
 * remain when the process dies. Thread rule: any thread.
 */
final class MappedSnapshot implements Snapshot {
    private final SharedSnapshot shared;
    private final Arena arena = Arena.ofShared();
    private final SnapshotHeader header;
    private final SnapshotLayout layout;
    private final MemorySegment memory;
    private boolean isClosed;

    /** @throws IOException if this process cannot map the memory, or it is not the announced snapshot */
    MappedSnapshot(SharedSnapshot shared) throws IOException {
        this.shared = shared;
        try {
            this.header = new SnapshotHeader(SharedMemory.map(shared, arena));
            this.layout = header.layout(shared.token());
            this.memory = header.content();
        } catch (IOException | RuntimeException refused) {
            arena.close();
            throw refused;
        }
    }

    @Override
    public boolean isOwn() {
        return false;
    }

    @Override
    public Optional<List<OwnSnapshot.OfFiles>> ofFiles() {
        return Optional.empty();
    }

    @Override
    public boolean isBy(SharedSnapshot other) {
        return shared.equals(other);
    }

    @Override
    public SnapshotLayout layout() {
        return layout;
    }

    @Override
    public synchronized long stepsDone() {
        return isClosed ? -1 : header.stepsDone();
    }

    @Override
    public synchronized boolean isSince(long steps) {
        return !isClosed && header.writtenAfter() >= steps;
    }

    @Override
    public synchronized long writingOf(long afterSteps) {
        return isClosed ? -1 : header.writingOf(afterSteps);
    }

    @Override
    public synchronized boolean get(long ofWriting, long offset, MemorySegment target) {
        if (isClosed) {
            return false;
        }
        target.copyFrom(memory.asSlice(offset, target.byteSize()));
        return header.isOf(ofWriting); // else the part has bytes that the rank wrote meanwhile
    }

    @Override
    public synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            arena.close();
        }
    }
}
