package dev.troupe.snapshot.copy;

/**
 * Copies of snapshots between nodes: this node shares its snapshots with other nodes of its machine, streams them to nodes
 * of other machines, and takes theirs, which its {@link CopyStore} then has in addition to its own ranks' snapshots.
 *
 * <p>Thread rule: any thread. {@link #close} before the store is closed.
 */
public interface SnapshotCopies extends AutoCloseable {
    /** Receives the news of copies. */
    @FunctionalInterface
    interface Listener {
        /**
         * The state of a stage after {@code stepsDone} steps is whole here, by a copy just received or an earlier one.
         * Called on the copying thread, so it must not wait.
         */
        void onCopied(int rank, int stage, long stepsDone);
    }

    /**
     * Shares this node's snapshot of a stage with another node, or streams it there if that node cannot map the memory, and
     * returns at once. The two newest snapshots of each stage wait for their turn, the older first, since it may be the last
     * committed one. A copy is broken off if the rank overwrites its snapshot meanwhile; a snapshot that does not exist any
     * more at its turn is not sent. If the other node is not connected, snapshots wait for it.
     *
     * @param toNode a node other than this one
     * @param door the door of its process, see {@link #door}
     */
    void send(int toNode, int door, int rank, int stage, long stepsDone);

    /**
     * Returns the number under which this process receives copies, from 1, drawn at its start: a dead process of the
     * same node had another number.
     */
    int door();

    /** Stops all copies to and from a dead node, and frees its streams. Whole copies remain. */
    void forget(int node);

    /** Returns the counts of copies so far. */
    CopyCounters counters();

    /** Ends the streams; unfinished copies are broken off. */
    @Override
    void close();
}
