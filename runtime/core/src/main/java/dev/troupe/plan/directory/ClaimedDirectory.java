package dev.troupe.plan.directory;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/**
 * The default directory of a run, claimed from its choice until the end of the run, so that another run takes the next one
 * although the first has written nothing yet.
 *
 * <p>Thread rule: any thread.
 */
public record ClaimedDirectory(Path path) implements AutoCloseable {
    private static final Set<Path> CLAIMED = new HashSet<>();

    /** Claims the directory, or the first after it that is free. */
    public static ClaimedDirectory firstFree(Path usual) {
        synchronized (CLAIMED) {
            Path free = RunDirectory.firstFree(usual.toAbsolutePath(), CLAIMED::contains);
            CLAIMED.add(free);
            return new ClaimedDirectory(free);
        }
    }

    @Override
    public void close() {
        synchronized (CLAIMED) {
            CLAIMED.remove(path);
        }
    }
}
