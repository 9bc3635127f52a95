package dev.troupe.actor;

import dev.troupe.weights.Progress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A thread of a rank, such as the one on which its stages compute, one at a time as the row says: what is ordered while
 * another action is computed begins without a thread being woken. What is ordered behind work that failed is not done,
 * since the rank is not in the state that it was ordered for. Thread rule: any thread may hand it work.
 */
final class RankThread {
    private final ExecutorService executor;
    private final Runnable progress;
    // Of the thread itself.
    private boolean hasFailed;
    private volatile Thread current;

    /**
     * @param progress
     *            told of every piece of a file that work here moves
     */
    RankThread(String name, Runnable progress) {
        this.progress = progress;
        executor = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            current = thread;
            return thread;
        });
    }

    /** Runs work after all that was handed over before; the outcome never comes where one of these has failed. */
    <T> CompletionStage<T> run(Supplier<T> work) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        executor.execute(() -> {
            if (hasFailed) {
                return;
            }
            try {
                outcome.complete(Progress.heardBy(progress, work));
            } catch (Throwable failure) { // an error too: whoever waits must hear of it
                hasFailed = true;
                outcome.completeExceptionally(failure);
            }
        });
        return outcome;
    }

    /** Takes no more work; what is running or waiting still runs. */
    void shutDown() {
        executor.shutdown();
    }

    /** As {@link #shutDown}, but what is running is interrupted, and what waits does not run. */
    void abandon() {
        executor.shutdownNow();
    }

    /** Whether the thread has ended after {@link #shutDown} or {@link #abandon}. */
    boolean hasEnded() {
        return executor.isTerminated();
    }

    /** Where it stands now, innermost call first; empty where it never ran. */
    List<StackTraceElement> stack() {
        Thread thread = current;
        return thread == null ? List.of() : List.of(thread.getStackTrace());
    }

    /** Waits until the thread has ended after {@link #shutDown}; false where it still computes at that time. */
    boolean awaitEnd(long deadlineNanos) {
        try {
            return executor.awaitTermination(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
