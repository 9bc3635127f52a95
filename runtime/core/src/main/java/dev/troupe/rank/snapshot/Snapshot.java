package dev.troupe.rank.snapshot;

import dev.troupe.protocol.replica.SnapshotSlots;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.copy.SnapshotLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The state of one stage of a rank after a number of steps, in memory that is reused for later states. A reader names the
 * writing that made the state, which is valid until the next writing begins. Thread rule: any thread.
 */
sealed interface Snapshot extends SnapshotSlots.Snapshot permits OwnSnapshot, MappedSnapshot {
    SnapshotLayout layout();

    /** Returns the tensors that the rank writes to files; empty for a copy. */
    Optional<List<OwnSnapshot.OfFiles>> ofFiles();

    /** Whether the memory is the one that another process has offered. */
    boolean isBy(SharedSnapshot other);

    /**
     * Returns the number of the writing that made the present state; negative if the state is not the one after {@code
     * afterSteps} steps.
     */
    long writingOf(long afterSteps);

    /** Reads a part of the state of a writing; returns false if that writing is no longer valid. */
    boolean get(long ofWriting, long offset, MemorySegment target);
}
