package dev.troupe.plan.prepare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.protocol.LossScale;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.TensorPart;
import dev.troupe.weights.huggingface.HuggingFaceModel;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StartingPointTest {
    private static final Tokenizer BYTES = Tokenizer.named("bytes");
    private static final ModelSpec MODEL = new Gpt2(2, 8, 2, 16, 256, true, Gpt2.NORM_EPSILON).spec();
    private static final String WRONG = "the model that was loaded is not the one the configuration describes: ";
    private static final String ADVICE = ". Leave those keys out to take the model's own";

    @TempDir
    private Path home;

    @Test
    void shouldRefuseAnotherFamilyThanTheModels() {
        assertEquals(
                "model.family must be one of [gpt2, llama, qwen2, qwen3, mixtral, qwen3_moe, glm4_moe], but found bert",
                refusal(described("model.family=bert"), Optional.empty()));
        assertEquals(WRONG + "model.family = bert, but the model has gpt2" + ADVICE,
                refusal(spec("model.from=" + exported(), "model.family=bert"), Optional.empty()));
    }

    @Test
    void shouldDrawTheModelThatIsDescribed() {
        StartingPoint start = StartingPoint.of(spec("model.layers=2", "model.hidden=8", "model.heads=2",
                "model.sequence-length=16", "model.vocabulary-size=256", "model.tie-embeddings=true"), BYTES,
                Optional.empty());
        assertEquals(MODEL, start.model());
        assertEquals(0, start.stepsDone());
        assertFalse(start.resumed());
    }

    @Test
    void shouldTakeTheShapeOfAModelDirectoryAndMayShortenItsSequences() throws Exception {
        Path directory = exported();
        StartingPoint start = StartingPoint.of(spec("model.from=" + directory, "model.sequence-length=12"), BYTES,
                Optional.empty());
        assertEquals(MODEL, start.model());
        assertEquals(12, start.sequenceLength());
        start.files().getFirst().close();
    }

    @Test
    void shouldNotTakeAllThePositionsOfALargeModelUnasked() throws Exception {
        Path directory = exported(new Gpt2(1, 8, 2, 3000, 256, true, Gpt2.NORM_EPSILON).spec());
        StartingPoint unasked = StartingPoint.of(spec("model.from=" + directory), BYTES, Optional.empty());
        assertEquals(2048, unasked.sequenceLength());
        unasked.files().getFirst().close();
        StartingPoint asked = StartingPoint.of(spec("model.from=" + directory, "model.sequence-length=3000"), BYTES,
                Optional.empty());
        assertEquals(3000, asked.sequenceLength());
        asked.files().getFirst().close();
    }

    @Test
    void shouldNameEveryContradictionToAModelDirectoryAtOnce() {
        Path directory = exported();
        assertEquals(
                WRONG + "model.layers = 3, but the model has 2; model.heads = 4, but the model has 2;"
                        + " model.tie-embeddings = false, but the model has true; model.sequence-length = 17, but the"
                        + " model has positions for 16" + ADVICE,
                refusal(spec("model.from=" + directory, "model.layers=3", "model.heads=4",
                        "model.tie-embeddings=false", "model.sequence-length=17"), Optional.empty()));
    }

    @Test
    void shouldContinueFromACheckpointOfTheSameModel() throws Exception {
        Path checkpoint = checkpoint(40);
        StartingPoint start = StartingPoint.of(described("model.layers=2"), BYTES, Optional.of(checkpoint));
        assertEquals(40, start.stepsDone());
        assertTrue(start.resumed());
        start.files().getFirst().close();
    }

    @Test
    void shouldRefuseACheckpointOfAnotherModel() {
        Path checkpoint = checkpoint(40);
        String refusal = checkpoint + " is of another model than the configuration describes: model.layers = 5, but the"
                + " checkpoint has 2. Leave those keys as they were to resume from it";
        assertEquals(refusal, refusal(described("model.layers=5"), Optional.of(checkpoint)));
        assertTrue(checkpoint.resolve("rank-000.safetensors").toFile().delete(), "the weights were not asked for");
        assertEquals(refusal, refusal(described("model.layers=5"), Optional.of(checkpoint)));
    }

    @Test
    void shouldRefuseToTrainFewerStepsThanAreDone() {
        Path checkpoint = checkpoint(40);
        RunRequest request = request(described("training.steps=39"), home.resolve("out"), checkpoint);
        assertEquals("the checkpoint lies 40 steps into its run, but training.steps = 39: raise it", refusal(request));
    }

    @Test
    void shouldContinueInTheRunOfACheckpointThatIsNamedItself() {
        Path checkpoint = checkpoint(40);
        assertTrue(request(described(), home, checkpoint).continuesInPlace());
        assertTrue(request(described(), home, home).continuesInPlace());
        assertFalse(request(described(), home.resolve("out"), checkpoint).continuesInPlace());
    }

    @Test
    void shouldNotContinueBeforeLaterCheckpoints() {
        Path earlier = checkpoint(40);
        checkpoint(80);
        assertEquals(
                "the run in " + home + " has a checkpoint after 80 steps already, but is to resume from the one after"
                        + " 40: choose another directory with --out, or move the later checkpoints away",
                refusal(request(described(), home, earlier)));
        RunSpec withoutState = described("training.optimizer.kind=sgd");
        try (PreparedRun elsewhere = PreparedRun.of(request(withoutState, home.resolve("out"), earlier))) {
            assertEquals(40, elsewhere.stepsDone());
        }
    }

    @Test
    void shouldRefuseALayoutThatCannotBeInWords() {
        RunRequest tooMany = new RunRequest(described("parallel.pipeline=5"), corpus(), home.resolve("out"),
                Optional.empty(), OptionalLong.empty());
        assertEquals("parallel.layout: a model of 2 blocks has 4 layers with embedding and head, which make 1 to 4"
                + " stages, but found 5: lower parallel.pipeline or parallel.virtual-stages, or raise model.layers",
                refusal(tooMany));
    }

    private static RunSpec described(String... settings) {
        List<String> all = new ArrayList<>(List.of("model.layers=2", "model.hidden=8", "model.heads=2",
                "model.sequence-length=16", "model.vocabulary-size=256", "parallel.pipeline=1",
                "parallel.virtual-stages=1", "parallel.schedule=1f1b", "training.steps=100",
                "training.global-batch-size=4", "training.microbatch-size=1"));
        all.addAll(List.of(settings));
        return spec(all.toArray(String[]::new));
    }

    private static RunSpec spec(String... settings) {
        List<String> all = new ArrayList<>(List.of("engine.kind=reference"));
        all.addAll(List.of(settings));
        return RunSpecReader.read(Optional.empty(), all);
    }

    private static RunRequest request(RunSpec spec, Path output, Path resume) {
        return new RunRequest(spec, corpus(), output, Optional.of(resume), OptionalLong.empty());
    }

    private static byte[] corpus() {
        return new byte[4096];
    }

    private static String refusal(RunSpec spec, Optional<Path> resume) {
        return assertThrows(UsageException.class, () -> StartingPoint.of(spec, BYTES, resume)).getMessage();
    }

    private static String refusal(RunRequest request) {
        return assertThrows(UsageException.class, () -> PreparedRun.of(request).close()).getMessage();
    }

    private Path exported() {
        return exported(MODEL);
    }

    private Path exported(ModelSpec model) {
        Path directory = home.resolve("model");
        InitialWeights weights = new InitialWeights(model, 1);
        HuggingFaceModel.write(directory, model, model.parameters().values().stream()
                .map(tensor -> new NamedTensor(tensor.name(), tensor.shape().sizes(), DataType.FLOAT32,
                        target -> weights.read(tensor.name(), tensor.shape().sizes(), DataType.FLOAT32, target)))
                .toList());
        return directory;
    }

    private Path checkpoint(long stepsDone) {
        CheckpointStore store = new CheckpointStore(home, MODEL, "", 0, 0);
        Shape one = Shape.of(1);
        TensorPart any = new TensorPart(
                NamedTensor.of("any", one, DataType.FLOAT32, MemorySegment.ofArray(new float[1])),
                TensorSlice.whole(one));
        return store.commit(stepsDone, LossScale.none(stepsDone), List.of(store.writePart(stepsDone, 0, List.of(any))));
    }
}
