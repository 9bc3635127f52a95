package dev.troupe.rank.group;

import dev.troupe.parallel.Aside;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The thread on which a rank exchanges tensors with other ranks while its stages compute. It also adds up the time that the
 * stages wait for other ranks. Thread rule: {@link #waited} and {@link #waitedNanos} on the stages' thread; the rest on any.
 */
public final class ExchangeThread implements Aside {
    private final ExecutorService executor;
    private long waitedNanos;

    public ExchangeThread(int rank) {
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

    /** Returns the time that the stages have waited inside actions, in nanoseconds. */
    public long waitedNanos() {
        return waitedNanos;
    }

    /** Accepts no more tasks; earlier ones still run. */
    public void shutDown() {
        executor.shutdown();
    }

    public boolean hasEnded() {
        return executor.isTerminated();
    }

    /** Waits for the end after {@link #shutDown}; returns false if the thread still runs at the deadline. */
    public boolean awaitEnd(long deadlineNanos) {
        try {
            return executor.awaitTermination(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
