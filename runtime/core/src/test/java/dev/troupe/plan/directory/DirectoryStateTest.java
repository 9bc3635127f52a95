package dev.troupe.plan.directory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

@Tag("runtime")
class DirectoryStateTest {
    @TempDir
    private Path home;
    private Path run;

    @BeforeEach
    void makeARunOfTenSteps() throws IOException {
        run = Files.createDirectory(home.resolve("run"));
        Files.writeString(run.resolve("config.conf"), "troupe { training { steps = 10 } }");
        Files.writeString(run.resolve("metrics.jsonl"), "");
    }

    private void writeCheckpoint(int steps) throws IOException {
        Path checkpoint = Files
                .createDirectories(run.resolve("checkpoints").resolve("step-%06d".formatted(steps)));
        Files.writeString(checkpoint.resolve("manifest.json"), "{}");
    }

    private static String refusal(Executable call) {
        return assertThrows(UsageException.class, call).getMessage();
    }

    @Test
    void shouldLetARunBeginAgainThatEndedBeforeItsFirstCheckpoint() throws IOException {
        Files.writeString(run.resolve("metrics.jsonl"), "{\"step\":0,\"loss\":1}\n");
        assertTrue(RunDirectory.requireBeginnable(run));
        assertEquals(run + " holds a run that ended before its first checkpoint, so there is nothing to resume:"
                + " begin it again with --out " + run, refusal(() -> RunDirectory.requireResumable(run)));
        Files.delete(run.resolve("metrics.jsonl")); // killed before it was written
        Files.delete(run.resolve("config.conf"));
        Files.createFile(run.resolve("run.lock"));
        assertTrue(RunDirectory.requireBeginnable(run));
        assertFalse(RunDirectory.requireBeginnable(home.resolve("new")));
    }

    @Test
    void shouldSendWhoeverBeginsToTheCheckpoint() throws IOException {
        writeCheckpoint(4);
        assertEquals(
                "the output directory " + run + " is in use: it holds a run with a checkpoint after 4 steps; resume"
                        + " it with --resume " + run + ", or choose another with --out",
                refusal(() -> RunDirectory.requireBeginnable(run)));
        assertDoesNotThrow(() -> RunDirectory.requireResumable(run));
    }

    @Test
    void shouldKeepWhatIsDone() throws IOException {
        writeCheckpoint(10);
        String sentence = "the output directory " + run + " is in use: it holds a run that is done after 10 steps;"
                + " choose another with --out";
        assertEquals(sentence, refusal(() -> RunDirectory.requireBeginnable(run)));
        Files.delete(run.resolve("checkpoints/step-000010/manifest.json")); // as of an engine that computes nothing
        Files.writeString(run.resolve("metrics.jsonl"), "{\"step\":0}\n".repeat(10));
        assertEquals(sentence, refusal(() -> RunDirectory.requireBeginnable(run)));
    }

    @Test
    void shouldSeeUnderTheLockThatAnotherRunHasBeenThereMeanwhile() throws IOException {
        Path free = home.resolve("free");
        assertFalse(RunDirectory.requireBeginnable(free));
        try (RunDirectory mine = RunDirectory.open(free)) {
            assertDoesNotThrow(mine::requireStillBeginnable);
        }
        writeCheckpoint(4);
        try (RunDirectory late = RunDirectory.open(run)) {
            assertEquals("the output directory " + late.path() + " is in use: it holds a run with a checkpoint after 4"
                    + " steps; resume it with --resume " + late.path() + ", or choose another with --out",
                    refusal(late::requireStillBeginnable));
        }
    }

    @Test
    void shouldNotTouchARunThatIsInProgress() throws IOException {
        try (RunDirectory _ = RunDirectory.open(run)) {
            assertEquals("the output directory " + run + " is in use: another run writes to it; wait for its end, or"
                    + " choose another with --out", refusal(() -> RunDirectory.requireBeginnable(run)));
            assertEquals(run + " has no checkpoint yet, and its run is in progress: wait for its end",
                    refusal(() -> RunDirectory.requireResumable(run)));
        }
    }

    /** Files of chaos and compare, or of anybody. */
    @Test
    void shouldRefuseWhatIsOfNoRun() throws IOException {
        Files.delete(run.resolve("metrics.jsonl"));
        assertTrue(refusal(() -> RunDirectory.requireBeginnable(run)).contains("files that are of no run"));
        assertDoesNotThrow(() -> RunDirectory.requireResumable(run), "whoever opens it says more");
    }
}
