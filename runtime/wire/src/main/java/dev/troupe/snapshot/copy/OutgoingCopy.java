package dev.troupe.snapshot.copy;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A snapshot that is read in parts, while its rank may overwrite it. Any thread. */
public interface OutgoingCopy {
    SnapshotLayout layout();

    /** Returns the memory's location for other processes of this machine; empty if they cannot map it. */
    Optional<SharedSnapshot> shared();

    /**
     * Copies a part of its bytes; a writer waits meanwhile.
     *
     * @return false if it was overwritten, so that the parts read before are void
     */
    boolean read(long offset, MemorySegment target);
}
