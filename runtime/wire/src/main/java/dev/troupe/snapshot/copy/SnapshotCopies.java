package dev.troupe.snapshot.copy;

/**
 * The copies of snapshots between nodes. A node shares its snapshots with other nodes of its machine, streams them to nodes
 * of other machines, and receives theirs into its {@link CopyStore}.
 *
 * <p>Thread rule: any thread. {@link #close} must precede the close of the store.
 */
public interface SnapshotCopies extends AutoCloseable {
    /** The receiver of news on copies. */
    @FunctionalInterface
    interface Listener {
        /**
         * Reports that the state of a stage after {@code stepsDone} steps is complete here, by this copy or an earlier one.
         * Called on the copying thread, so it must not block.
         */
        void onCopied(int rank, int stage, long stepsDone);
    }

    /**
     * Shares a snapshot with another node, or streams it if that node cannot map the memory; returns at once. The queue has
     * the two newest snapshots of each stage, the older first, since it may be the last commit. A copy is aborted if the
     * rank overwrites its snapshot, and skipped if the snapshot is gone at its turn. Snapshots wait for a node that is not
     * connected.
     *
     * @param toNode a node other than this one
     * @param receiverId the number of its process, see {@link #receiverId}
     */
    void send(int toNode, int receiverId, int rank, int stage, long stepsDone);

    /**
     * Returns the number, from 1, under which this process receives copies. It is random, so that a dead process of the same
     * node had another.
     */
    int receiverId();

    /** Stops all copies to and from a dead node, and frees its streams. Complete copies remain. */
    void forget(int node);

    CopyCounters counters();

    /** Closes the streams; unfinished copies are aborted. */
    @Override
    void close();
}
