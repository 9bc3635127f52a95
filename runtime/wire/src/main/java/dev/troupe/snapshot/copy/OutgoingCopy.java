package dev.troupe.snapshot.copy;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A snapshot that is read in parts, while its rank may overwrite it. Any thread. */
public interface OutgoingCopy {
    SnapshotLayout layout();

    /** Returns the place of its memory for other processes of this machine; empty if they cannot map it. */
    Optional<SharedSnapshot> shared();

    /**
     * Copies a part of its bytes, and blocks a writer for the time of the copy.
     *
     * @return false if it has been overwritten: parts that were read before are of no use then
     */
    boolean read(long offset, MemorySegment target);
}
