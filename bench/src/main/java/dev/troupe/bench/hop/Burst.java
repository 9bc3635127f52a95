package dev.troupe.bench.hop;

/** A way from this process to another on which messages of one size go in bursts. Thread rule: one thread. */
interface Burst extends AutoCloseable {
    /** Returns the seconds until a number of messages has reached the other process and its answer is here. */
    double seconds(int messages) throws InterruptedException;

    @Override
    void close();
}
