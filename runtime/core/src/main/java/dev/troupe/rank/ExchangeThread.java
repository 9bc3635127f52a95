package dev.troupe.rank;

import dev.troupe.parallel.Aside;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The thread of a rank that exchanges with other ranks while the rank's stages compute, and the time that the stages have
 * waited for other ranks.
 *
 * <p>Thread rule: {@link #waited} and {@link #waitedNanos} on the stages' thread; the rest on any.
 */
final class ExchangeThread implements Aside {
    private final ExecutorService executor;
    private long waitedNanos;

    ExchangeThread(int rank) {
        executor = Executors
                .newSingleThreadExecutor(Thread.ofPlatform().name("rank-" + rank + "-exchanges").daemon().factory());
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(task);
    }

    @Override
    public void waited(long nanos) {
        waitedNanos += nanos;
    }

    /** Returns the time that the stages have waited for other ranks inside actions, in nanoseconds. */
    long waitedNanos() {
        return waitedNanos;
    }

    /** Takes no more tasks; earlier ones still run. */
    void shutDown() {
        executor.shutdown();
    }

    /** Whether the thread has ended after {@link #shutDown}. */
    boolean hasEnded() {
        return executor.isTerminated();
    }

    /** Waits until the thread has ended after {@link #shutDown}; returns false if it still runs at that time. */
    boolean awaitEnd(long deadlineNanos) {
        try {
            return executor.awaitTermination(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
