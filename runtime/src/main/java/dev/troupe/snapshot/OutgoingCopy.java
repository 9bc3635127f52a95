package dev.troupe.snapshot;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A snapshot that is read in parts, while its rank may come to write over it. Any thread. */
public final class OutgoingCopy {
    private final Snapshot snapshot;
    private final long writing;

    OutgoingCopy(Snapshot snapshot, long writing) {
        this.snapshot = snapshot;
        this.writing = writing;
    }

    /** What lies where in it. */
    public SnapshotLayout layout() {
        return snapshot.layout();
    }

    /** Where other processes of this machine find it; empty where they cannot. */
    public Optional<SharedSnapshot> shared() {
        return snapshot instanceof OwnSnapshot own ? own.shared() : Optional.empty();
    }

    /**
     * Copies a part of its bytes, and holds up whoever would write over it for that long.
     *
     * @return false where it has been written over: what was read before is of no use then
     */
    public boolean read(long offset, MemorySegment target) {
        return snapshot.get(writing, offset, target);
    }
}
