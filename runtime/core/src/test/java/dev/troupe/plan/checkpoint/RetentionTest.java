package dev.troupe.plan.checkpoint;

import static dev.troupe.plan.checkpoint.CheckpointSamples.names;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RetentionTest {
    @TempDir
    private Path run;

    @Test
    void shouldKeepTheNewestByNumberNotByName() throws IOException {
        writeAll(2, 999_998, 999_999, 1_000_000);
        assertReady("step-1000000", "step-999999");
    }

    @Test
    void shouldKeepAllIfThatIsAskedFor() throws IOException {
        writeAll(0, 1, 2, 3);
        assertReady("step-000001", "step-000002", "step-000003");
    }

    @Test
    void shouldKeepTheNewestAlone() throws IOException {
        writeAll(1, 1, 2, 3);
        assertReady("step-000003");
    }

    @Test
    void shouldDeleteTheCheckpointsOfAnEarlierRun() throws IOException {
        writeAll(0, 1, 2, 3);
        writeAll(2, 4);
        assertReady("step-000003", "step-000004");
    }

    @Test
    void shouldKeepCheckpointsWithMoreStepsThanTheNewest() throws IOException {
        writeAll(0, 5, 9);
        writeAll(1, 7);
        assertReady("step-000007", "step-000009");
    }

    /** A checkpoint from which no run can resume does not count. */
    @Test
    void shouldNotCountIncompleteCheckpoints() throws IOException {
        writeAll(0, 1, 2, 3, 4);
        Files.delete(checkpoint(4).resolve("rank-000.safetensors"));
        Files.write(checkpoint(3).resolve("rank-000.safetensors"), new byte[3]);
        writeAll(2, 5);
        assertReady("step-000002", "step-000003", "step-000004", "step-000005");
        writeAll(2, 6);
        assertReady("step-000005", "step-000006");
    }

    @Test
    void shouldDeleteEarlierCheckpointsThatWereNeverCompleted() throws IOException {
        CheckpointStore store = new CheckpointStore(run, CheckpointSamples.MODEL, "", 0, 0);
        store.writePart(2, 0, CheckpointSamples.tensors(0, 1));
        store.writePart(4, 0, CheckpointSamples.tensors(0, 1));
        Files.createFile(run.resolve(
                "checkpoints/step-000002.partial/.rank-001.0b0e3c1a-8c3a-4f0e-9d42-1f4f3f0a5b6c.safetensors.77.tmp"));
        CheckpointSamples.write(store, 3, 1, 1);
        assertReady("step-000003", "step-000004.partial");
    }

    @Test
    void shouldKeepFilesThatNoRunWrites() throws IOException {
        writeAll(0, 1, 2, 3);
        Files.writeString(checkpoint(1).resolve("notes.txt"), "the good one");
        Path folder = run.resolve("checkpoints");
        Files.move(checkpoint(2), folder.resolve("kept-step-000002"));
        Files.createDirectories(folder.resolve("step-12"));
        writeAll(1, 4);
        assertReady("kept-step-000002", "step-000001", "step-000004", "step-12");
        assertEquals(List.of("manifest.json", "notes.txt", "rank-000.safetensors"), names(checkpoint(1)));
    }

    private void writeAll(int kept, long... steps) {
        CheckpointStore store = new CheckpointStore(run, CheckpointSamples.MODEL, "", kept, 0);
        for (long stepsDone : steps) {
            CheckpointSamples.write(store, stepsDone, 1, 1);
        }
    }

    private Path checkpoint(long stepsDone) {
        return CheckpointStore.directoryOf(run, stepsDone);
    }

    private void assertReady(String... expected) throws IOException {
        assertEquals(List.of(expected), names(run.resolve("checkpoints")));
    }
}
