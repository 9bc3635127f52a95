package dev.troupe.parallel;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;

/** The executor of a stage's tasks on another thread, one after another, in the order given. */
@FunctionalInterface
public interface Aside extends Executor {
    /** Called on the stage's thread after it has waited {@code nanos} nanoseconds for such a task. */
    default void waited(long nanos) {
    }

    /** Waits for a task, and throws its failure as it is. */
    static void join(CompletableFuture<Void> task) {
        try {
            task.join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw failure;
        }
    }
}
