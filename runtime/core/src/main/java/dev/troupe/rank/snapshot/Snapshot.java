package dev.troupe.rank.snapshot;

import dev.troupe.protocol.replica.SnapshotSlots;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.copy.SnapshotLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The state of one stage of a rank after a number of steps, in memory that is used again for a later state. A reader
 * names the writing that made the state, which is valid until another writing begins.
 *
 * <p>Thread rule: any thread.
 */
sealed interface Snapshot extends SnapshotSlots.Snapshot permits OwnSnapshot, MappedSnapshot {
    SnapshotLayout layout();

    /** Returns the tensors that the rank writes to files; empty for a copy, which has no such list. */
    Optional<List<OwnSnapshot.OfFiles>> ofFiles();

    /** Whether the memory is the one that another process has offered. */
    boolean isBy(SharedSnapshot other);

    /**
     * Returns the number of the writing that made the state here; negative if it is not the state after
     * {@code afterSteps} steps.
     */
    long writingOf(long afterSteps);

    /** Reads a part of the state of a writing; returns false if it is not valid any more. */
    boolean get(long ofWriting, long offset, MemorySegment target);
}
