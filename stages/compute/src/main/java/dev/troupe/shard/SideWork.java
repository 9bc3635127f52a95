package dev.troupe.shard;

import dev.troupe.parallel.Aside;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * What a stage has done aside while its thread computes: one thing after another, in the order given. What fails ends
 * all that comes after it.
 *
 * <p>Thread rule: the stage's thread.
 */
final class SideWork {
    private final Aside aside;
    /** Done when all that was begun is; an executor that does one task after another has done it before the next begins. */
    private CompletableFuture<Void> underWay = CompletableFuture.completedFuture(null);

    SideWork(Aside aside) {
        this.aside = aside;
    }

    /** Begins something, unless what was begun before is known to have failed: that fails here then. */
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

    /** Waits for all that was begun; what fails there fails here. */
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
