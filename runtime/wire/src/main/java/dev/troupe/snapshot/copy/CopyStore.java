package dev.troupe.snapshot.copy;

import java.io.IOException;
import java.util.Optional;

/** The snapshots of a node, as the source and destination of copies. Any thread. */
public interface CopyStore {
    /** Returns the state of a stage after {@code stepsDone} steps for reading in parts; empty if it is absent. */
    Optional<OutgoingCopy> read(int rank, int stage, long stepsDone);

    /**
     * Begins to receive a copy of another node's snapshot; empty if it is already complete here, so that a sender that dies
     * during the copy damages nothing. The newest complete copy is not overwritten.
     *
     * @throws OutOfMemoryError if the process lacks memory for the copy
     */
    Optional<IncomingCopy> accept(int rank, int stage, long stepsDone, SnapshotLayout layout);

    /**
     * Maps the memory of a snapshot of another process of this machine: the writes of its rank are visible here at once, and
     * survive the process.
     *
     * @return whether the state after {@code stepsDone} steps is complete; it may have been overwritten since the offer
     * @throws IOException if this process cannot map the memory
     */
    boolean map(int rank, int stage, long stepsDone, SharedSnapshot shared) throws IOException;
}
