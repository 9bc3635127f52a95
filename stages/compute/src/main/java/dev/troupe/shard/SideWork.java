package dev.troupe.shard;

import dev.troupe.parallel.Aside;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The work of a stage on another thread while its own thread computes: one task after another, in the order given. A failure
 * ends all later tasks.
 *
 * <p>Thread rule: the stage's thread.
 */
final class SideWork {
    private final Aside aside;
    /** Done when all begun tasks are; a sequential executor has done one before the next begins. */
    private CompletableFuture<Void> underWay = CompletableFuture.completedFuture(null);

    SideWork(Aside aside) {
        this.aside = aside;
    }

    /** Begins a task, unless an earlier one is known to have failed: its failure is thrown then. */
    void begin(Runnable work) {
        if (underWay.isCompletedExceptionally()) {
            settle();
        }
        CompletableFuture<Void> before = underWay;
        underWay = CompletableFuture.runAsync(() -> {
            before.join();
            work.run();
        }, aside);
    }

    /** Waits for all begun tasks, and throws their failure. */
    void settle() {
        if (!underWay.isDone()) {
            long start = System.nanoTime();
            underWay.exceptionally(failure -> null).join();
            aside.waited(System.nanoTime() - start);
        }
        try {
            underWay.join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw failure;
        }
    }
}
