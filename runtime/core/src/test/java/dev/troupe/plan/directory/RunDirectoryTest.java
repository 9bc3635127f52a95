package dev.troupe.plan.directory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.ChildJvm;
import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
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
        assertEquals("the output directory " + used + " is in use: it must be empty or not there yet; choose another"
                + " with --out", refusal(() -> RunDirectory.requireFree(used)));
        assertEquals("the output directory " + used + " is in use: it holds files that are of no run; it must be empty"
                + " or not there yet: choose another with --out", refusal(() -> RunDirectory.requireBeginnable(used)));
    }

    /** As a pipe would be, which blocks its reader. */
    @Test
    void shouldRefuseARunWithADeviceAmongItsFiles() throws IOException {
        Path run = Files.createDirectory(home.resolve("device"));
        Files.writeString(run.resolve("run.lock"), "");
        Path device = Files.createSymbolicLink(run.resolve("metrics.jsonl"), Path.of("/dev/null"));
        String refusal = device
                + " must be a file, but it is a pipe or a device: remove it, or choose another directory"
                + " with --out";
        assertEquals(refusal, refusal(() -> RunDirectory.requireBeginnable(run)));
        assertEquals(refusal, refusal(() -> RunDirectory.requireResumable(run)));
    }

    @Test
    void shouldRefuseAFile() throws IOException {
        Path file = Files.writeString(home.resolve("notes.txt"), "mine");
        String refusal = "the output directory " + file
                + " must be a directory or not there yet, but it is a file; choose another with --out";
        assertEquals(refusal, refusal(() -> RunDirectory.requireFree(file)));
        assertEquals(refusal, refusal(() -> RunDirectory.requireBeginnable(file)));
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
        return assertThrows(UsageException.class, request::run).getMessage();
    }

    /** A look at the lock file of one's own run gives up no lock. */
    @Test
    @Tag("real")
    void shouldHaveItsLockAfterALookAtIt() throws Exception {
        Path path = home.resolve("run");
        try (RunDirectory _ = RunDirectory.open(path)) {
            assertTrue(RunDirectory.isHeld(path));
            Process other = ChildJvm.of(Holder.class, path.toString()).redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                assertNull(other.inputReader().readLine(), "another process has the directory too");
            } finally {
                other.destroyForcibly();
            }
        }
    }

    /** The case of a coordinator that was stopped while the others continued without it. */
    @Test
    @Tag("real")
    void shouldTakeTheDirectoryFromAProcessThatIsStopped() throws Exception {
        Path path = home.resolve("run");
        Process holder = ChildJvm.of(Holder.class, path.toString()).redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            assertEquals("has it", holder.inputReader().readLine());
            assertEquals(0, new ProcessBuilder("kill", "-STOP", "" + holder.pid()).start().waitFor());
            try (RunDirectory _ = RunDirectory.takeOver(path, Duration.ofSeconds(5))) {
                assertTrue(holder.waitFor(10, TimeUnit.SECONDS));
            }
        } finally {
            holder.destroyForcibly();
        }
    }

    @Test
    void shouldNotKillWhomALockFileNamesThatIsOld() throws Exception {
        Path lock = home.resolve("run.lock");
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            LockHolder.write(channel);
        }
        LockHolder self = LockHolder.read(lock).orElseThrow();
        assertFalse(self.kill());
        Process other = new ProcessBuilder("sleep", "60").start();
        try {
            assertFalse(new LockHolder(self.machine(), other.pid(), self.start().minusSeconds(9)).kill());
            assertFalse(new LockHolder("another", other.pid(), other.info().startInstant().orElseThrow()).kill());
            assertTrue(other.isAlive());
        } finally {
            other.destroyForcibly();
        }
    }

    /** Takes a run's directory and keeps it. */
    static final class Holder {
        private Holder() {
        }

        public static void main(String[] arguments) throws IOException {
            try (RunDirectory _ = RunDirectory.open(Path.of(arguments[0]))) {
                System.out.println("has it");
                while (System.in.read() >= 0) {
                    // until the parent ends
                }
            }
        }
    }

    @Test
    void shouldRefuseAPlaceIfNobodyCanMakeADirectory() {
        Path long256 = home.resolve("a").resolve("n".repeat(256)).resolve("b");
        assertTrue(refusal(() -> RunDirectory.requireFree(long256))
                .startsWith("the output directory " + long256
                        + " cannot be made, since the file system lets nobody make that below " + home.resolve("a")));
        assertFalse(Files.exists(home.resolve("a")), "nothing stays");
        if (Files.isDirectory(Path.of("/proc"))) {
            assertTrue(refusal(() -> RunDirectory.requireFree(Path.of("/proc/x"))).contains("cannot be made"));
        }
    }
}
