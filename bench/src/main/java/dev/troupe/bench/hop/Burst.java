package dev.troupe.bench.hop;

import java.util.List;

/**
 * A way to another process for bursts of messages of one size, or a group with it for repeated collectives. Thread rule: one
 * thread.
 */
interface Burst extends AutoCloseable {
    /**
     * Returns the seconds from the first of {@code count} messages to the answer of the other process, or of {@code count}
     * collectives.
     */
    double seconds(int count) throws InterruptedException;

    /** Returns the processes that work for this way, except this process and the one that answers it. */
    default List<ProcessHandle> processes() {
        return List.of();
    }

    @Override
    void close();
}
