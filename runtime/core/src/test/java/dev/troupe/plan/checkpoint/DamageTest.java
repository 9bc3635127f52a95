package dev.troupe.plan.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run with checkpoints after 10 and 20 steps; the newer one is damaged. */
class DamageTest {
    private static final String ELSEWHERE = ": resume from another checkpoint";

    @TempDir
    private Path run;
    private CheckpointStore store;
    private Path older;
    private Path newer;
    private Path part;
    private Path manifest;

    @BeforeEach
    void writeTwo() {
        store = new CheckpointStore(run, CheckpointSamples.MODEL, "", 0, 0);
        older = CheckpointSamples.write(store, 10, 2, 1);
        newer = CheckpointSamples.write(store, 20, 2, 5);
        part = newer.resolve("rank-001.safetensors");
        manifest = newer.resolve("manifest.json");
    }

    @Test
    void shouldPassOverNothingIfTheNewestIsWhole() throws IOException {
        Files.delete(older.resolve("rank-000.safetensors"));
        assertOpens(20, List.of());
    }

    @Test
    void shouldPassOverAFlippedBit() throws IOException {
        byte[] sound = Files.readAllBytes(part);
        for (int at : new int[]{0, 9, sound.length - 1}) {
            byte[] flipped = sound.clone();
            flipped[at] ^= 0x10;
            Files.write(part, flipped);
            assertPassedOver(part + " is damaged (its SHA-256 differs from the manifest's)");
        }
    }

    @Test
    void shouldPassOverAPartThatAFaultDamaged() {
        CheckpointPart written = store.writePart(30, 0, CheckpointSamples.tensors(0, 9));
        store.damage(30, written);
        Path newest = store.commit(30, LossScale.none(30), List.of(written));
        assertOpens(20, List.of(
                newest.resolve("rank-000.safetensors") + " is damaged (its SHA-256 differs from the manifest's)"));
    }

    @Test
    void shouldPassOverAFileThatIsTooShortOrTooLong() throws IOException {
        byte[] sound = Files.readAllBytes(part);
        Files.write(part, Arrays.copyOf(sound, sound.length - 1));
        assertPassedOver(part + " is damaged (it has " + (sound.length - 1) + " bytes, but the manifest has "
                + sound.length + ")");
        Files.write(part, sound);
        Files.write(part, new byte[]{0}, StandardOpenOption.APPEND);
        assertPassedOver(part + " is damaged (it has " + (sound.length + 1) + " bytes, but the manifest has "
                + sound.length + ")");
    }

    @Test
    void shouldPassOverAMissingFile() throws IOException {
        Files.delete(part);
        assertPassedOver(part + " is missing");
    }

    @Test
    void shouldPassOverAMissingManifest() throws IOException {
        Files.delete(manifest);
        assertPassedOver(manifest + " is missing");
    }

    @Test
    void shouldPassOverAManifestThatIsNone() throws IOException {
        Files.writeString(manifest, "[]");
        assertPassedOver(manifest + " is damaged (it is no JSON object)");
    }

    @Test
    void shouldPassOverAFileThatCannotBeRead() throws IOException {
        Files.delete(part);
        Files.createDirectory(part);
        long bytes = Files.size(part);
        Files.writeString(manifest, Files.readString(manifest).replaceAll("\"byteCount\" : \\d+", "\"byteCount\" : "
                + bytes));
        Files.write(newer.resolve("rank-000.safetensors"), new byte[Math.toIntExact(bytes)]);
        String what = assertThrows(CheckpointException.class, () -> Checkpoint.open(newer)).getMessage();
        assertTrue(what.endsWith(ELSEWHERE), what);
        assertOpens(10, List.of(what.substring(0, what.length() - ELSEWHERE.length())));
    }

    @Test
    void shouldPassOverACheckpointThatWasNotCompleted() {
        store.writePart(30, 0, CheckpointSamples.tensors(0, 9));
        Path partial = newer.resolveSibling("step-000030.partial");
        assertOpens(20, List.of(partial + " was not written to its end"));
        assertRefused(partial, partial + " was not written to its end" + ELSEWHERE);
    }

    @Test
    void shouldPassOverAllThatAreDamagedTheNewestFirst() throws IOException {
        Path newest = CheckpointSamples.write(store, 30, 1, 9);
        Files.delete(newest.resolve("rank-000.safetensors"));
        Files.delete(part);
        assertOpens(10, List.of(newest.resolve("rank-000.safetensors") + " is missing", part + " is missing"));
    }

    @Test
    void shouldReportInOneSentenceThatNoneIsWhole() throws IOException {
        Files.delete(part);
        Files.writeString(older.resolve("manifest.json"), "");
        String sentence = assertThrows(CheckpointException.class, () -> Checkpoint.open(run)).getMessage();
        assertTrue(sentence.startsWith("no checkpoint in " + run + " is whole: " + part + " is missing; "
                + older.resolve("manifest.json") + " is damaged ("), sentence);
        assertEquals(1, sentence.lines().count(), sentence);
    }

    /** The newest checkpoint is whole, so a run that resumed from the one before would lose the steps between. */
    @Test
    void shouldNotPassOverAFormatOfAnotherVersion() throws IOException {
        Files.writeString(manifest, "{ \"format\" : 5, \"everything\" : \"else\" }");
        assertRefused(run, manifest
                + " has format 5, but this version reads 1 to 4: resume it with the version that wrote it");
    }

    /** In a run's directory it is passed over; named itself it is refused. */
    private void assertPassedOver(String what) {
        assertOpens(10, List.of(what));
        assertRefused(newer, what + ELSEWHERE);
    }

    private void assertOpens(long stepsDone, List<String> passedOver) {
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(stepsDone, checkpoint.stepsDone());
            assertEquals(passedOver, checkpoint.passedOver());
        }
    }

    private static void assertRefused(Path directory, String sentence) {
        assertEquals(sentence,
                assertThrows(CheckpointException.class, () -> Checkpoint.open(directory).close()).getMessage());
    }
}
