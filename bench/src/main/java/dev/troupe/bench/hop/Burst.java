package dev.troupe.bench.hop;

import java.util.List;

/**
 * A measured connection to another process: it sends bursts of messages of one size, or repeats a collective with it. Thread
 * rule: one thread.
 */
interface Burst extends AutoCloseable {
    /**
     * Returns the seconds from the first of {@code count} messages to the answer of the other process, or of {@code count}
     * collectives.
     */
    double seconds(int count) throws InterruptedException;

    /** Returns further processes that carry the messages, in addition to this process and the answering one. */
    default List<ProcessHandle> processes() {
        return List.of();
    }

    @Override
    void close();
}
