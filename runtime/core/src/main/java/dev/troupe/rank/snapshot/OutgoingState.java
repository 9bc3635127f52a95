package dev.troupe.rank.snapshot;

import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.copy.SnapshotLayout;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A snapshot that is read in parts, while its rank may overwrite it. Thread rule: any thread. */
final class OutgoingState implements OutgoingCopy {
    private final Snapshot snapshot;
    private final long writing;

    OutgoingState(Snapshot snapshot, long writing) {
        this.snapshot = snapshot;
        this.writing = writing;
    }

    @Override
    public SnapshotLayout layout() {
        return snapshot.layout();
    }

    @Override
    public Optional<SharedSnapshot> shared() {
        return snapshot instanceof OwnSnapshot own ? own.shared() : Optional.empty();
    }

    @Override
    public boolean read(long offset, MemorySegment target) {
        return snapshot.get(writing, offset, target);
    }
}
