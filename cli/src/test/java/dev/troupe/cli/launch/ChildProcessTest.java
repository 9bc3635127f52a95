package dev.troupe.cli.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A child process and the threads that read its lines. */
@Tag("real")
@Timeout(120)
class ChildProcessTest {
    private static final long PATIENCE_SECONDS = 60;
    private static final long LOOK_AGAIN_NANOS = 10_000_000;

    @TempDir
    private Path directory;

    /** The reader of the output gets no processor time until the process has ended. */
    @Test
    void shouldEndOnceAllLinesAreRead() throws Exception {
        CompletableFuture<Void> core = new CompletableFuture<>();
        List<String> read = new CopyOnWriteArrayList<>();
        Path log = directory.resolve("child.log");
        ChildProcess child = ChildProcess.start("child", List.of("node", "none.conf", "a"), log, read::add, line -> {
            core.join();
            read.add(line);
        });
        try {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (child.isAlive()) {
                assertTrue(System.nanoTime() < deadline, "the process has not ended");
                LockSupport.parkNanos(LOOK_AGAIN_NANOS);
            }
            assertFalse(child.awaitEnd(100, TimeUnit.MILLISECONDS), "a line is not read");
            core.complete(null);
            assertTrue(child.awaitEnd(PATIENCE_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, read.size(), read::toString);
            assertTrue(read.getFirst().contains("none.conf"), read::toString);
            assertEquals(read, Files.readAllLines(log));
        } finally {
            core.complete(null);
            child.end(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }
}
