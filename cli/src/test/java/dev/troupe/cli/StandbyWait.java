package dev.troupe.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Holds a launched node until its standby, node c, has joined, so that a fault in an early step finds the standby
 * there. A run in the JVM of the tests has no standby, and nothing holds it.
 */
final class StandbyWait {
    /** The setting of a run that is held: to the coordinator, the rank that waits computes. */
    static final String SETTING = "recovery.hang-timeout=150s";
    private static final long PATIENCE_SECONDS = 100;
    private static final long LOOK_AGAIN_NANOS = 10_000_000;

    private StandbyWait() {
    }

    static void await() {
        Optional<Path> logs = LocalCluster.logsOfThisNode();
        if (logs.isEmpty()) {
            return;
        }
        Path log = logs.get().resolve("a.log");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!read(log).contains("node c has joined")) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("node c did not join within " + PATIENCE_SECONDS + " seconds");
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
