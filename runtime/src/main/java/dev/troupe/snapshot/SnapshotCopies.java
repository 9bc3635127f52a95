package dev.troupe.snapshot;

/**
 * Copies of snapshots between nodes: shares what this node keeps with other nodes of its machine, streams it to those
 * of other machines, and takes in what they share and send, which {@link Snapshots#find} then has like what a rank of
 * this node kept.
 *
 * <p>Thread rule: any thread. {@link #close} before the {@link Snapshots} are closed.
 */
public interface SnapshotCopies extends AutoCloseable {
    /** Hears what has come. */
    @FunctionalInterface
    interface Listener {
        /**
         * A stage's state after so many steps is whole here, by what has come or already before. Called on the thread that
         * copies, so it does not wait for anything.
         */
        void onCopied(int rank, int stage, long stepsDone);
    }

    /**
     * Lends the snapshot that this node has of a stage to another node, or streams it there where that node cannot have the
     * memory, and returns at once. Of each stage the two newest
     * versions wait for their turn, the older first: it may be the last that is committed. One that a rank writes over
     * meanwhile is broken off; what is not there any more when its turn comes is not sent. Where the other node is not
     * there, they wait for it.
     *
     * @param toNode
     *            another node than this
     * @param door
     *            of its process, see {@link #door}
     */
    void send(int toNode, int door, int rank, int stage, long stepsDone);

    /**
     * The number of where this process takes copies in, from 1, drawn when it started: what a process of the same node
     * that died has open is another one.
     */
    int door();

    /** Stops what goes to a node and what comes from it, and frees its streams: it has died. What is whole stays. */
    void forget(int node);

    /** What has been copied so far. */
    CopyCounters counters();

    /** Ends the streams; what is under way is broken off. */
    @Override
    void close();
}
