package dev.troupe.snapshot;

import java.lang.foreign.MemorySegment;

/**
 * The state of one stage of a rank after so many steps, in memory that is used again for a later state. What is read
 * names the writing that made it: once another has begun, it stands no more.
 *
 * <p>Thread rule: any thread.
 */
sealed interface Snapshot extends AutoCloseable permits OwnSnapshot, MappedSnapshot {
    /** What lies where. */
    SnapshotLayout layout();

    /** Of what stands here; negative while that is nothing whole. Does not wait for a rank that writes. */
    long stepsDone();

    /** Whether what stands here, or is to, is the state after so many steps or more. */
    boolean isSince(long steps);

    /** Which writing made what stands here; negative where that is not the state after so many steps. */
    long writingOf(long afterSteps);

    /** Reads a part of what a writing made; false where it does not stand any more. */
    boolean get(long ofWriting, long offset, MemorySegment target);

    /** Gives the memory back; whoever still reads or writes a part hears that it has none. */
    @Override
    void close();
}
