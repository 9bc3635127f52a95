package dev.troupe;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The failure of a run that had started. The message is one sentence with the reason; the cause is the exception or error
 * that was thrown in this process, by a listener for example, if there was one.
 */
public final class RunFailedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Path directory;
    private final transient Optional<Path> lastCheckpoint;

    RunFailedException(String reason, Optional<Throwable> cause, Path directory, Optional<Path> lastCheckpoint) {
        super(reason, cause.orElse(null));
        this.directory = directory;
        this.lastCheckpoint = lastCheckpoint;
    }

    /** Returns the directory of the run. */
    public Path directory() {
        return directory;
    }

    /** Returns the checkpoint from which {@link TrainingSpec.Builder#resume} can continue; empty if there is none. */
    public Optional<Path> lastCheckpoint() {
        return lastCheckpoint;
    }
}
