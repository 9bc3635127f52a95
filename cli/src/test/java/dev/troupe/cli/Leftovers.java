package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

/** The threads that a run must not leave in its JVM. */
final class Leftovers {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private Leftovers() {
    }

    /** No thread of a run is left; a dispatcher's end a little after the actor system has. */
    static void requireNoThread() throws InterruptedException {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("rank-") || thread.getName().startsWith("troupe-")) {
                assertTrue(thread.join(PATIENCE), thread + " outlives its run");
            }
        }
    }
}
