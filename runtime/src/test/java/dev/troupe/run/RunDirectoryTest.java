package dev.troupe.run;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunDirectoryTest {
    @TempDir
    private Path home;

    @Test
    void shouldLetARunHaveAnEmptyOrANewDirectoryAndWriteNothing() throws IOException {
        Path fresh = home.resolve("a/b/c");
        assertDoesNotThrow(() -> RunDirectory.requireFree(fresh));
        assertDoesNotThrow(() -> RunDirectory.requireFree(Files.createDirectory(home.resolve("empty"))));
        assertFalse(Files.exists(home.resolve("a")));
    }

    @Test
    void shouldRefuseADirectoryThatHoldsSomething() throws IOException {
        Path used = Files.createDirectory(home.resolve("used"));
        Files.writeString(used.resolve("notes.txt"), "mine");
        String sentence = "the output directory " + used
                + " is in use: it must be empty or not there yet; choose another"
                + " with --out, or go on with what is there with --resume " + used;
        assertEquals(sentence, refusal(() -> RunDirectory.requireFree(used)));
        Path file = used.resolve("notes.txt");
        assertTrue(refusal(() -> RunDirectory.requireFree(file)).contains(file + " is in use"));
    }

    @Test
    void shouldRefuseADirectoryThatCannotBeMade() throws IOException {
        Path file = Files.writeString(home.resolve("file"), "in the way");
        Path below = file.resolve("run");
        assertEquals("the output directory " + below + " cannot be made, since " + file
                + " is not a directory one may write to; choose another with --out",
                refusal(() -> RunDirectory.requireFree(below)));
        assertTrue(refusal(() -> RunDirectory.open(below)).startsWith("cannot write to the output directory " + below));
    }

    @Test
    void shouldLockTheDirectoryWhileTheRunLasts() {
        Path path = home.resolve("run");
        try (RunDirectory directory = RunDirectory.open(path)) {
            assertEquals(path, directory.path());
            assertEquals("the output directory " + path + " is in use: another run writes to it; wait for its end, or"
                    + " choose another with --out", refusal(() -> RunDirectory.open(path)));
        }
        assertTrue(RunDirectory.isFree(path), "and leaves nothing of its own behind");
        assertDoesNotThrow(() -> RunDirectory.open(path).close());
    }

    @Test
    void shouldWaitForTheProcessThatHasTheDirectoryToEnd() throws InterruptedException {
        Path path = home.resolve("run");
        RunDirectory first = RunDirectory.open(path);
        assertTrue(refusal(() -> RunDirectory.takeOver(path, Duration.ofMillis(1))).contains("is in use"));
        CountDownLatch begun = new CountDownLatch(1);
        Thread other = Thread.ofVirtual().start(() -> {
            begun.countDown();
            RunDirectory.takeOver(path, Duration.ofMinutes(1)).close();
        });
        assertTrue(begun.await(1, TimeUnit.MINUTES));
        first.close();
        assertTrue(other.join(Duration.ofMinutes(1)));
        assertTrue(RunDirectory.isFree(path), "and leaves nothing of its own behind");
    }

    private static String refusal(Runnable request) {
        return assertThrows(RequestException.class, request::run).getMessage();
    }
}
