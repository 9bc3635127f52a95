package dev.troupe.snapshot;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A snapshot that is read in parts, while its rank may overwrite it. Any thread. */
public final class OutgoingCopy {
    private final Snapshot snapshot;
    private final long writing;

    OutgoingCopy(Snapshot snapshot, long writing) {
        this.snapshot = snapshot;
        this.writing = writing;
    }

    /** Returns the layout of the snapshot. */
    public SnapshotLayout layout() {
        return snapshot.layout();
    }

    /** Returns the place of its memory for other processes of this machine; empty where they cannot map it. */
    public Optional<SharedSnapshot> shared() {
        return snapshot instanceof OwnSnapshot own ? own.shared() : Optional.empty();
    }

    /**
     * Copies a part of its bytes, and blocks a writer for the time of the copy.
     *
     * @return false where it has been overwritten: parts that were read before are of no use then
     */
    public boolean read(long offset, MemorySegment target) {
        return snapshot.get(writing, offset, target);
    }
}
