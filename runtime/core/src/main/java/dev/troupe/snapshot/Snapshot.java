package dev.troupe.snapshot;

import java.lang.foreign.MemorySegment;

/**
 * The state of one stage of a rank after a number of steps, in memory that is used again for a later state. A reader
 * names the writing that made the state: once another writing has begun, the state is not valid any more.
 *
 * <p>Thread rule: any thread.
 */
sealed interface Snapshot extends AutoCloseable permits OwnSnapshot, MappedSnapshot {
    /** Returns the layout of the tensors. */
    SnapshotLayout layout();

    /**
     * Returns the steps done of the whole state here; negative while there is none. Does not wait for a rank that writes.
     */
    long stepsDone();

    /** Whether the state here, or the one being written, is that after {@code steps} steps or more. */
    boolean isSince(long steps);

    /**
     * Returns the number of the writing that made the state here; negative where it is not the state after
     * {@code afterSteps} steps.
     */
    long writingOf(long afterSteps);

    /** Reads a part of the state of a writing; returns false where it is not valid any more. */
    boolean get(long ofWriting, long offset, MemorySegment target);

    /** Frees the memory; reads and writes of parts fail from now on. */
    @Override
    void close();
}
