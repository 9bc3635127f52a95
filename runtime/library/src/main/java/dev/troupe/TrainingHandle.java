package dev.troupe;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/**
 * A run that has started, or this process's node of one. It continues whether or not a thread waits for it.
 *
 * <p>Thread rule: any thread.
 */
public final class TrainingHandle {
    private final ActiveRun run;
    private final CompletableFuture<TrainingResult> result;

    TrainingHandle(ActiveRun run) {
        this.run = run;
        this.result = run.begin();
    }

    /** Returns the directory of the run. */
    public Path directory() {
        return run.directory();
    }

    /** Returns the steps that are committed, as far as this process knows. */
    public long stepsDone() {
        return run.stepsDone();
    }

    /**
     * Asks the run to end after the step under way, with a checkpoint and a model, in all of its processes. Does not wait;
     * a step may take as long as it computes.
     */
    public void stop() {
        run.stop();
    }

    /** Asks the run to end at once, without a checkpoint. Does not wait. */
    public void stopNow() {
        run.stopNow();
    }

    /**
     * Waits until the run is over, its model is written, and its threads, memory and files are released.
     *
     * @throws RequestException
     *             where the other nodes refuse this one
     * @throws RunFailedException
     *             where the run failed
     * @throws InterruptedException
     *             where this thread was interrupted; the run continues
     */
    public TrainingResult await() throws InterruptedException {
        try {
            return result.get();
        } catch (ExecutionException failure) {
            throw switch (failure.getCause()) {
                case RequestException refused -> refused;
                case RunFailedException failed -> failed;
                case Throwable defect -> new IllegalStateException("the end of a run failed", defect);
            };
        }
    }

    /** Returns the result as a future, which completes with the exceptions of {@link #await} too. */
    public CompletableFuture<TrainingResult> result() {
        return result.copy();
    }
}
