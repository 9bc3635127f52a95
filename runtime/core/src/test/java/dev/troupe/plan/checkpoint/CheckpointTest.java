package dev.troupe.plan.checkpoint;

import static dev.troupe.plan.checkpoint.CheckpointSamples.MODEL;
import static dev.troupe.plan.checkpoint.CheckpointSamples.names;
import static dev.troupe.plan.checkpoint.CheckpointSamples.part;
import static dev.troupe.plan.checkpoint.CheckpointSamples.tensors;
import static dev.troupe.plan.checkpoint.CheckpointSamples.values;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.parallel.IndexRange;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.Progress;
import dev.troupe.weights.TensorPart;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointTest {
    private static final String ELSEWHERE = ": resume from another checkpoint";

    private static final String PRODUCTS = "large=onednn small=openblas";
    /** A model of a manifest up to format 2. */
    private static final String FORMER_MODEL = """
            "layers" : 3, "hidden" : 8, "heads" : 2, "sequenceLength" : 4, "vocabularySize" : 17,
            "tiedEmbeddings" : true, "normEpsilon" : 1.0E-5""";

    @TempDir
    private Path run;
    private CheckpointStore store;

    @BeforeEach
    void openStore() {
        store = new CheckpointStore(run, MODEL, PRODUCTS, 0, 0);
    }

    @Test
    void shouldReadBackWhatEveryRankWrote() {
        Path directory = write(100, 2, 1);
        assertEquals(run.resolve("checkpoints/step-000100"), directory);

        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(directory, checkpoint.directory());
            assertEquals(100, checkpoint.stepsDone());
            assertEquals(MODEL, checkpoint.model());
            assertArrayEquals(new float[]{1, 2, 3, 4}, values(checkpoint, "weights-0"));
            assertArrayEquals(new float[]{11, 12, 13, 14}, values(checkpoint, "weights-1"));
            assertEquals(directory + " has no tensor weights-2: resume with the model and the optimizer that it was"
                    + " written with",
                    assertThrows(WeightException.class, () -> values(checkpoint, "weights-2"))
                            .getMessage());
        }
    }

    @Test
    void shouldOpenACheckpointByItsOwnDirectory() {
        Path older = write(7, 1, 1);
        write(8, 1, 5);
        assertTrue(Checkpoint.isAt(older));
        assertFalse(Checkpoint.isAt(run));
        try (Checkpoint checkpoint = Checkpoint.open(older)) {
            assertEquals(7, checkpoint.stepsDone());
        }
    }

    @Test
    void shouldOpenTheNewestByNumberNotByName() {
        write(999_999, 1, 1);
        write(1_000_000, 1, 2);
        write(20, 1, 3);
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(1_000_000, checkpoint.stepsDone());
        }
    }

    @Test
    void shouldPassOverIncompleteCheckpointsAndOtherFiles() throws IOException {
        write(10, 1, 1);
        store.writePart(20, 0, tensors(0, 2));
        Files.createDirectories(run.resolve("checkpoints/step-000030")); // half deleted
        Files.createDirectories(run.resolve("checkpoints/step-000040.partial"));
        Files.writeString(run.resolve("checkpoints/step-000040.partial/manifest.json"), "{}");
        Files.createDirectories(run.resolve("checkpoints/old-step-000050"));
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(10, checkpoint.stepsDone());
        }
    }

    @Test
    void shouldReplaceACheckpointOfTheSameStep() throws IOException {
        write(10, 3, 1);
        write(10, 1, 5);
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertArrayEquals(new float[]{5, 6, 7, 8}, values(checkpoint, "weights-0"));
        }
        assertEquals(List.of("manifest.json", "rank-000.safetensors"), names(run.resolve("checkpoints/step-000010")));
        assertEquals(List.of("step-000010"), names(run.resolve("checkpoints")));
    }

    @Test
    void shouldRemoveTheFilesOfARunWithMoreRanks() throws IOException {
        for (int rank = 0; rank < 4; rank++) {
            store.writePart(10, rank, tensors(rank, 9)); // and then it broke down
        }
        write(10, 2, 1);
        assertEquals(List.of("manifest.json", "rank-000.safetensors", "rank-001.safetensors"),
                names(run.resolve("checkpoints/step-000010")));
    }

    @Test
    void shouldReportThatThereIsNoCheckpoint() {
        assertEquals("there is no directory " + run.resolve("nowhere") + " to resume from: name the directory of a run,"
                + " or one of its checkpoints", refusal(run.resolve("nowhere")));
        assertEquals("no checkpoint was found in " + run + ": expected " + run.resolve("checkpoints") + " to hold"
                + " directories such as step-000100, each with a manifest.json", refusal(run));
    }

    @Test
    void shouldRefuseAManifestThatIsNone() throws IOException {
        assertDamaged(text -> "", "");
        assertDamaged(text -> text.substring(0, text.length() / 2), "");
        assertDamaged(text -> "steps: 10", "");
        assertDamaged(text -> "[]", "");
        assertDamaged(text -> "null", "");
        assertDamaged(text -> text + "x", "");
    }

    @Test
    void shouldRefuseAManifestThatLacksSomething() throws IOException {
        for (String key : List.of("format", "steps_done", "model", "loss_scale", "products", "skips_in_row", "parts",
                "layers",
                "family", "section", "tie-embeddings", "norm-epsilon", "file", "byteCount", "sha256")) {
            assertDamaged(text -> text.replace('"' + key + '"', "\"other\""), "");
        }
        assertDamaged(text -> text.replaceAll("(?s)\"parts\".*\\]", "\"parts\" : null"), "parts");
        assertDamaged(text -> text.replaceAll("(?s)\"parts\".*\\]", "\"parts\" : []"), "parts at least 1");
        assertDamaged(text -> text.replaceAll("\"file\" : \"[^\"]*\"", "\"file\" : null"), "file");
    }

    @Test
    void shouldRefuseAManifestWithMoreThanItKnows() throws IOException {
        assertDamaged(text -> text.replaceFirst("\\{", "{ \"slices\" : 2,"), "slices");
        assertDamaged(text -> text.replace("\"steps_done\" : 10", "\"steps_done\" : 10, \"steps_done\" : 11"),
                "\"steps_done\" is given twice");
        assertDamaged(text -> text.replace("\"steps_done\" : 10", "\"steps_done\" : -1"), "at least 0");
        assertDamaged(text -> text.replace("\"heads\" : 2", "\"heads\" : 3"), "is not divisible");
    }

    @Test
    void shouldReadTheFormatBeforeThisAsARunThatSkippedNothing() throws IOException {
        Path manifest = write(10, 1, 1).resolve("manifest.json");
        change(manifest, text -> text.replace("\"format\" : 4", "\"format\" : 1")
                .replaceFirst("(?s)\"loss_scale\" : \\{.*?\\},", "")
                .replaceFirst("\"products\".*,", "").replaceFirst("(?s)\"family\".*?\\}", FORMER_MODEL));
        assertEquals("", Checkpoint.products(run));
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(LossScale.none(10), checkpoint.lossScale());
            assertEquals(CheckpointSamples.MODEL, checkpoint.model());
        }
    }

    @Test
    void shouldNameTheLibrariesOfProducts() throws IOException {
        Path checkpoint = write(10, 1, 1);
        assertEquals(PRODUCTS, Checkpoint.products(checkpoint));
        assertEquals(PRODUCTS, Checkpoint.products(run));
        Files.writeString(write(12, 1, 1).resolve("manifest.json"), "damaged");
        assertEquals(PRODUCTS, Checkpoint.products(run));
    }

    @Test
    void shouldKeepTheScaleOfTheLoss() {
        LossScale scale = new LossScale(LossScale.Rule.DYNAMIC, 0.25, 4, 3, 6);
        store.commit(10, scale, List.of(store.writePart(10, 0, tensors(0, 1))));
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertEquals(scale, checkpoint.lossScale());
        }
    }

    @Test
    void shouldRefuseAPartThatLeavesTheDirectory() throws IOException {
        Path manifest = write(10, 1, 1).resolve("manifest.json");
        Path outside = Files.copy(manifest.resolveSibling("rank-000.safetensors"),
                run.resolve("rank-000.safetensors"));
        for (String name : List.of("../../rank-000.safetensors", outside.toString(), "./rank-000.safetensors", "")) {
            change(manifest, text -> text.replaceAll("\"file\" : \"[^\"]*\"", "\"file\" : \"" + name + "\""));
            assertEquals(manifest + " is damaged (it names a part \"" + name + "\", but parts have names such as"
                    + " rank-000.safetensors)" + ELSEWHERE, refusal(manifest.getParent()));
        }
    }

    @Test
    void shouldRefuseATensorThatIsInTwoParts() {
        List<CheckpointPart> parts = List.of(store.writePart(10, 0, tensors(0, 1)),
                store.writePart(10, 1, tensors(0, 1)));
        Path directory = store.commit(10, LossScale.none(10), parts);
        assertTwice(directory, "weights-0");
    }

    @Test
    void shouldRefuseAPartThatIsNamedTwice() throws IOException {
        Path directory = write(10, 1, 1);
        change(directory.resolve("manifest.json"),
                text -> text.replaceFirst("(?s)\"parts\" : \\[ (\\{.*?\\}) \\]", "\"parts\" : [ $1, $1 ]"));
        assertTrue(refusal(directory).contains("a file is listed twice among its parts"), refusal(directory));
    }

    /**
     * A rank that was started again writes while its predecessor still does; either may end last, and one of them is
     * reported.
     */
    @Test
    void shouldKeepFilesOfTwoWritersOfARankApart() throws IOException {
        CheckpointPart first = store.writePart(10, 0, tensors(0, 1));
        CheckpointPart second = store.writePart(10, 0, tensors(0, 5));
        CheckpointPart late = store.writePart(10, 0, tensors(0, 9));
        assertEquals(3, Set.of(first.file(), second.file(), late.file()).size());
        Path directory = store.commit(10, LossScale.none(10), List.of(second));
        assertEquals(List.of("manifest.json", "rank-000.safetensors"), names(directory));
        try (Checkpoint checkpoint = Checkpoint.open(directory)) {
            assertArrayEquals(new float[]{5, 6, 7, 8}, values(checkpoint, "weights-0"));
        }
    }

    @Test
    void shouldExplainWhyACheckpointCannotBeWritten() throws IOException {
        Files.writeString(run.resolve("checkpoints"), "a file in the way");
        String sentence = assertThrows(CheckpointException.class, () -> store.writePart(10, 0, tensors(0, 1)))
                .getMessage();
        assertTrue(sentence.startsWith("cannot write " + run.resolve("checkpoints")), sentence);
    }

    private void assertTwice(Path directory, String tensor) {
        String sentence = refusal(directory);
        assertTrue(sentence.startsWith(directory + " is damaged (") && sentence.endsWith(ELSEWHERE), sentence);
        assertTrue(sentence.contains("tensor \"" + tensor + "\""), sentence);
    }

    @Test
    void shouldAssembleTheSharesOfTheRanksOfAGroup() {
        List<CheckpointPart> parts = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            TensorSlice rows = new TensorSlice(Shape.of(2, 4), 0, List.of(new IndexRange(rank, rank + 1)));
            parts.add(store.writePart(10, rank, List.of(part(0, 1 + 10 * rank, rows))));
        }
        store.commit(10, LossScale.none(10), parts);
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            assertArrayEquals(new float[]{1, 2, 3, 4, 11, 12, 13, 14}, values(checkpoint, "weights-0", Shape.of(2, 4)));
        }
    }

    private void assertDamaged(UnaryOperator<String> damage, String why) throws IOException {
        Path manifest = write(10, 2, 1).resolve("manifest.json");
        change(manifest, damage);
        String sentence = refusal(manifest.getParent());
        assertTrue(sentence.startsWith(manifest + " is damaged (") && sentence.endsWith(ELSEWHERE), sentence);
        assertTrue(sentence.contains(why), sentence);
    }

    private static void change(Path file, UnaryOperator<String> change) throws IOException {
        String before = Files.readString(file);
        String after = change.apply(before);
        assertFalse(before.equals(after), "the test changed nothing in " + before);
        Files.writeString(file, after);
    }

    private Path write(long stepsDone, int ranks, float first) {
        return CheckpointSamples.write(store, stepsDone, ranks, first);
    }

    private static String refusal(Path directory) {
        return assertThrows(CheckpointException.class, () -> Checkpoint.open(directory).close()).getMessage();
    }

    /** A waiter for a part of many gigabytes can distinguish a slow disk from one that hangs. */
    @Test
    void shouldReportThatBytesMoveWhileAPartIsWritten() {
        Shape shape = Shape.of(9, 1 << 20);
        MemorySegment values = Arena.ofAuto().allocate(4 * shape.elementCount());
        AtomicInteger moved = new AtomicInteger();
        Progress.reportedTo(moved::incrementAndGet, () -> store.writePart(1, 0,
                List.of(new TensorPart(NamedTensor.of("large", shape, DataType.FLOAT32, values),
                        TensorSlice.whole(shape)))));
        assertTrue(moved.get() >= 3 + 36, "36 MiB, written in pieces of 16 and read back in pieces of 1, but " + moved);
    }
}
