package dev.troupe.plan.checkpoint;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.weights.NamedTensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("plan")
class DiskRoomTest {
    private static final long CHECKPOINT = 300_000_000;
    private static final long MODEL = 100_000_000;
    private static final long OVERHEAD = CheckpointStore.OVERHEAD_BYTES;

    @TempDir
    private Path home;

    @Test
    void shouldRefuseARunThatCannotFitItsCheckpoints() {
        assertDoesNotThrow(() -> require(CHECKPOINT + MODEL + OVERHEAD, 2, 0, false));
        assertEquals("the run would end with a checkpoint of 300,000,000 bytes and a model of 100,000,000, but the file"
                + " system of " + output() + " has 401,048,575 left: free some, choose another with --out, or take a"
                + " smaller model (model.hidden, model.layers)",
                refusal(CHECKPOINT + MODEL + OVERHEAD - 1, 2, 0, false));
        assertDoesNotThrow(() -> require(CHECKPOINT + MODEL + OVERHEAD, 0, 0, true), "somebody may move them away");
    }

    @Test
    void shouldRefuseToKeepMoreThanThereIsRoomFor() {
        assertDoesNotThrow(() -> require(4 * CHECKPOINT + OVERHEAD, 3, 0, true));
        assertEquals("the run would keep 3 checkpoints of 300,000,000 bytes and write one more before it deletes the"
                + " oldest, but the file system of " + output()
                + " has 1,201,048,575 left: free some, choose another with"
                + " --out, or set training.keep-checkpoints = 2", refusal(4 * CHECKPOINT + OVERHEAD - 1, 3, 0, true));
        assertDoesNotThrow(() -> require(4 * CHECKPOINT + OVERHEAD - 1, 2, 0, true), "as was advised");
    }

    @Test
    void shouldAdviseNoneOnTheWayIfNotEvenTwoFit() {
        String refusal = refusal(2 * CHECKPOINT + OVERHEAD - 1, 1, 0, true);
        assertEquals("write none on the way (training.checkpoint-every = 0)",
                refusal.substring(refusal.indexOf("write none")));
        assertDoesNotThrow(() -> require(2 * CHECKPOINT + OVERHEAD - 1, 1, 0, false), "as was advised");
    }

    @Test
    void shouldCountTheCheckpointsOnDisk() {
        assertDoesNotThrow(() -> require(CHECKPOINT + MODEL + OVERHEAD, 3, 3, true));
        assertThrows(CheckpointException.class, () -> require(CHECKPOINT + MODEL + OVERHEAD, 3, 2, true));
    }

    @Test
    void shouldRefuseAModelThatIsLargerThanTheRoom() {
        assertDoesNotThrow(() -> DiskRoom.requireForModel(output(), MODEL, disk(MODEL + OVERHEAD)));
        assertEquals("the model has 100,000,000 bytes, but the file system of " + output()
                + " has 101,048,575 left: free some, choose another with --out, or take a smaller type of weights",
                assertThrows(CheckpointException.class,
                        () -> DiskRoom.requireForModel(output(), MODEL, disk(MODEL + OVERHEAD - 1))).getMessage());
    }

    private Path output() {
        return home.resolve("not").resolve("there");
    }

    private String refusal(long free, int kept, int present, boolean isPeriodic) {
        return assertThrows(CheckpointException.class, () -> require(free, kept, present, isPeriodic)).getMessage();
    }

    private void require(long free, int kept, int present, boolean isPeriodic) {
        new DiskRoom(CHECKPOINT, MODEL).require(output(), kept, present, isPeriodic, disk(free));
        assertEquals(false, Files.exists(output()));
    }

    private Disk disk(long free) {
        return new Disk() {
            @Override
            public long freeBytes(Path directory) {
                assertEquals(home, directory, "the nearest that is there");
                return free;
            }

            @Override
            public void write(Path file, Map<String, String> metadata, Collection<NamedTensor> tensors) {
                throw new AssertionError("nothing is written");
            }
        };
    }
}
