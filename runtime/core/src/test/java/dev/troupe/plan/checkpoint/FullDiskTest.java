package dev.troupe.plan.checkpoint;

import static dev.troupe.plan.checkpoint.CheckpointSamples.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk with a number of free bytes, and no room for parts beyond a number. */
class FullDiskTest {
    private static final long EXPECTED = 5_000_000;

    @TempDir
    private Path run;
    private long freeBytes = Long.MAX_VALUE;
    private int partsLeft = Integer.MAX_VALUE;
    private CheckpointStore store;

    @BeforeEach
    void openStore() {
        store = new CheckpointStore(run, CheckpointSamples.MODEL, "", 1, EXPECTED, new Disk() {
            @Override
            public long freeBytes(Path directory) {
                return freeBytes;
            }

            @Override
            public void write(Path file, Map<String, String> metadata, Collection<NamedTensor> tensors) {
                if (partsLeft-- <= 0) {
                    throw new WeightException("cannot write " + file + ": No space left on device");
                }
                REAL.write(file, metadata, tensors);
            }
        });
    }

    @Test
    void shouldReportTheSizeOfACheckpointBeforeAnythingIsWritten() {
        freeBytes = EXPECTED + (1 << 20);
        store.requireRoom();
        freeBytes--;
        assertEquals(
                "it takes 6,048,576 bytes, but the file system of " + run + " has 6,048,575 left: free some, or set"
                        + " training.keep-checkpoints lower",
                assertThrows(CheckpointException.class, store::requireRoom).getMessage());
    }

    @Test
    void shouldReadTheFreeSpaceOfTheRealDisk() {
        new CheckpointStore(run, CheckpointSamples.MODEL, "", 1, 0).requireRoom();
        assertThrows(CheckpointException.class,
                () -> new CheckpointStore(run, CheckpointSamples.MODEL, "", 1, Long.MAX_VALUE >> 1).requireRoom());
    }

    @Test
    void shouldKeepTheEarlierCheckpointAndRemoveTheFailedOne() throws IOException {
        CheckpointSamples.write(store, 10, 2, 1);
        partsLeft = 1;
        store.writePart(20, 0, CheckpointSamples.tensors(0, 5));
        String why = assertThrows(CheckpointException.class,
                () -> store.writePart(20, 1, CheckpointSamples.tensors(1, 5)))
                .getMessage();
        assertTrue(why.startsWith("cannot write " + run) && why.endsWith(".safetensors: No space left on device"), why);
        store.abandon(20);
        assertEquals(List.of("step-000010"), names(run.resolve("checkpoints")));
        partsLeft = 2;
        CheckpointSamples.write(store, 30, 2, 9);
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(30, checkpoint.stepsDone());
            assertEquals(List.of(), checkpoint.passedOver());
        }
    }

    @Test
    void shouldAbandonACheckpointThatWasNeverBegun() throws IOException {
        store.abandon(20);
        assertEquals(List.of(), names(run), "nothing is made for it");
        CheckpointSamples.write(store, 10, 2, 1);
        store.abandon(20);
        assertEquals(List.of("step-000010"), names(run.resolve("checkpoints")));
        CheckpointSamples.write(store, 20, 2, 9);
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(20, checkpoint.stepsDone());
        }
    }
}
