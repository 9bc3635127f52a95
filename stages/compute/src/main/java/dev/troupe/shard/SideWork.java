package dev.troupe.shard;

import dev.troupe.parallel.Aside;
import java.util.concurrent.CompletableFuture;

/**
 * The queue of a stage's tasks on another thread, in order, while its own thread computes. After a failure no later task
 * runs.
 *
 * <p>Thread rule: the stage's thread.
 */
final class SideWork {
    private final Aside aside;
    /** Completes with the last task; the executor runs tasks one after another. */
    private CompletableFuture<Void> inProgress = CompletableFuture.completedFuture(null);

    SideWork(Aside aside) {
        this.aside = aside;
    }

    /** Begins a task, or throws the failure of an earlier one if it is known. */
    void begin(Runnable work) {
        if (inProgress.isCompletedExceptionally()) {
            settle();
        }
        CompletableFuture<Void> before = inProgress;
        inProgress = CompletableFuture.runAsync(() -> {
            before.join();
            work.run();
        }, aside);
    }

    /** Waits for all begun tasks, and throws their failure. */
    void settle() {
        if (!inProgress.isDone()) {
            long start = System.nanoTime();
            inProgress.exceptionally(failure -> null).join();
            aside.waited(System.nanoTime() - start);
        }
        Aside.join(inProgress);
    }
}
