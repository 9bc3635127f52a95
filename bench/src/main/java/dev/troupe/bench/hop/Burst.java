package dev.troupe.bench.hop;

import java.util.List;

/**
 * A way from this process to another on which messages of one size go in bursts, or a group with it that calls a collective
 * again and again. Thread rule: one thread.
 */
interface Burst extends AutoCloseable {
    /**
     * Returns the seconds until a number of messages has reached the other process and its answer is here, or until both
     * have done a number of collectives.
     */
    double seconds(int count) throws InterruptedException;

    /** The processes that work for it; empty for this one and the one that answers it. */
    default List<ProcessHandle> processes() {
        return List.of();
    }

    @Override
    void close();
}
