package dev.troupe;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A started run, or this process's node of one. It continues whether or not a thread waits for it. In a {@code try} with
 * resources it ends with the block.
 *
 * <p>Thread rule: any thread.
 */
public final class TrainingHandle implements AutoCloseable {
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

    /** Returns the kind of the engine in this process, as in {@code engine.kind}; for {@code auto}, the chosen one. */
    public String engine() {
        return run.engine();
    }

    /** Returns the steps of the whole run. */
    public long steps() {
        return run.steps();
    }

    /** Returns the committed steps known to this process. */
    public long stepsDone() {
        return run.stepsDone();
    }

    /**
     * Asks the run to end after the step in progress, with a checkpoint and a model, in all of its processes. Does not wait;
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
     * @throws RequestException if the other nodes refuse this one
     * @throws RunFailedException if the run failed
     * @throws InterruptedException if this thread was interrupted; the run continues
     * @throws IllegalStateException in a method of the run's listener, which the run waits for
     */
    public TrainingResult await() throws InterruptedException {
        run.requireNoListener();
        try {
            return result.get();
        } catch (ExecutionException failure) {
            throw switch (requireNonNullElse(failure.getCause(), failure)) {
                case RequestException refused -> refused;
                case RunFailedException failed -> failed;
                case Throwable defect -> new IllegalStateException("the end of a run failed", defect);
            };
        }
    }

    /**
     * As {@link #await()}, for a limited time.
     *
     * @return the result; empty if the run continues
     */
    public Optional<TrainingResult> await(Duration limit) throws InterruptedException {
        requireNonNull(limit, "limit");
        run.requireNoListener();
        try {
            result.handle((_, _) -> Optional.empty()).get(TimeUnit.NANOSECONDS.convert(limit),
                    TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            return Optional.empty();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException("an end that is handled is no failure", impossible);
        }
        return Optional.of(await());
    }

    /** Returns whether the run is over, and all its resources are released. */
    public boolean isDone() {
        return result.isDone();
    }

    /**
     * Ends an unfinished run at once, without a checkpoint, and waits until all its resources are released.
     *
     * @throws IllegalStateException in a method of the run's listener, which the run waits for
     */
    @Override
    public void close() {
        if (!isDone()) {
            run.requireNoListener();
            run.stopNow();
            result.handle((_, _) -> Optional.empty()).join();
        }
    }

    /** Returns the result as a future, which completes with the exceptions of {@link #await} too. */
    public CompletableFuture<TrainingResult> result() {
        return result.copy();
    }
}
