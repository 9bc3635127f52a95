package dev.troupe.snapshot.copy;

import java.io.IOException;
import java.util.Optional;

/** The snapshots of a node, from which copies are sent and to which they are received. Any thread. */
public interface CopyStore {
    /** Returns the state of a stage after {@code stepsDone} steps, to be sent in parts; empty if it is not kept. */
    Optional<OutgoingCopy> read(int rank, int stage, long stepsDone);

    /**
     * Begins to keep a copy of another node's snapshot; empty if it is whole here already, so that a sender that
     * dies during the copy damages nothing. The newest whole copy remains.
     *
     * @throws OutOfMemoryError if there is no memory for the copy
     */
    Optional<IncomingCopy> accept(int rank, int stage, long stepsDone, SnapshotLayout layout);

    /**
     * Maps a snapshot of another process of this machine, in that process's own memory: the writes of its rank are
     * visible here at once, and remain when the process dies.
     *
     * @return whether the state after {@code stepsDone} steps is whole here; it may have been overwritten since it was
     *          offered
     * @throws IOException if this process cannot map the memory
     */
    boolean map(int rank, int stage, long stepsDone, SharedSnapshot shared) throws IOException;
}
