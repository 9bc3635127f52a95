package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code troupe train} under pipedream with stages on several ranks: the bits of PipeDream's rule on one device, however
 * often the pipeline is flushed, after faults, and from a checkpoint.
 */
@Tag("real")
@Dealt(5)
@Timeout(240)
class ReplicasRunTest extends OverlappingRuns {
    private static final int STEPS = 12;

    @ParameterizedTest
    @CsvSource({"2-1, adamw, cpu, float32, 12", "1-2, sgd, cpu, float32, 4", "2-1, adamw, reference, float64, 6"})
    void shouldHaveTheBitsOfTheRuleOnOneDevice(String shape, String optimizer, String engine, String precision,
            int flushEvery) {
        assertSameAsLoop(shape, optimizer, engine, precision, flushEvery);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"2-1-1, adamw, cpu, float32, 12", "1-3, sgd, cpu, float32, 6", "2-3, adamw, cpu, float32, 6",
            "3-1, adamw, cpu, float32, 3", "1-2-1, sgd, reference, float64, 12", "2-2-1, adamw, cpu, float32, 2",
            "3, adamw, cpu, float32, 12", "1-2-2-1, adamw, cpu, float32, 6", "3-1-2, sgd, cpu, float32, 12"})
    void shouldHaveTheBitsOfTheRuleUnderEveryShape(String shape, String optimizer, String engine, String precision,
            int flushEvery) {
        assertSameAsLoop(shape, optimizer, engine, precision, flushEvery);
    }

    private void assertSameAsLoop(String shape, String optimizer, String engine, String precision, int flushEvery) {
        List<String> settings = settings(shape, "engine.kind=" + engine, "training.precision=" + precision,
                "training.optimizer.kind=" + optimizer, "parallel.flush-every=" + flushEvery);
        Path run = train("run", settings);
        try (ReplicaLoop loop = new ReplicaLoop(directory.resolve("loop"), settings)) {
            loop.assertSameBits(run);
        }
    }

    /** With one rank a stage it is PipeDream, and several ranks of one stage alone are data-parallel. */
    @Test
    void shouldBePipeDreamWithOneRankAStage() {
        List<String> settings = settings("1-1", "engine.kind=reference", "training.validate-every=4",
                "data.validation-fraction=0.25");
        Path replicated = train("replicated", settings);
        settings.add("parallel.replicas=[]");
        RunFiles.assertSameBits(train("stashing", settings), replicated);
    }

    /** Replicas share out the microbatches of validation too, which may be fewer than they are. */
    @Test
    void shouldValidateOnAllReplicas() {
        List<String> settings = settings("2-1", "engine.kind=reference", "training.validate-every=4",
                "data.validation-fraction=0.25", "training.learning-rate.peak=0");
        Path replicated = train("replicated", settings);
        List<String> one = new ArrayList<>(settings);
        one.addAll(List.of("parallel.replicas=[]", "parallel.pipeline=1", "parallel.schedule=1f1b"));
        assertEquals(validations(train("one", one)), validations(replicated));
        settings.addAll(List.of("parallel.replicas=[1, 3]", "training.validation-microbatches=1", "training.steps=12",
                "training.validate-every=12"));
        assertEquals(1, validations(train("few", settings)).size());
    }

    private static List<String> validations(Path run) {
        return RunFiles.validations(run).stream()
                .map(line -> line.replaceFirst(".*\"validation_loss\":([^,}]+).*", "$1"))
                .toList();
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"2-1, 0, causalAttentionBackward, 7", "2-1, 1, adamW, 2", "2-1, 2, crossEntropyBoth, 7",
            "1-2, 0, adamW, 9", "1-2, 2, causalAttention, 4", "2-1-1, 1, causalAttention, 6",
            "2-1-1, 2, causalAttentionBackward, 11", "2-2, 1, adamW, 4"})
    void shouldContinueWhereverARankFails(String shape, int rank, String kernel, int call) {
        assertRecovers(settings(shape, "engine.kind=" + FaultyEngineProvider.KIND, "parallel.flush-every=6",
                "training.checkpoint-every=6"), rank, kernel, call);
    }

    @Test
    void shouldContinueWhenAReplicaFails() {
        assertRecovers(settings("2-1", "engine.kind=" + FaultyEngineProvider.KIND, "parallel.flush-every=6"), 1,
                "causalAttentionBackward", 5);
    }

    @Test
    void shouldResumeOnTheSameReplicasAlone() {
        Path whole = train("whole", settings("2-1", "engine.kind=reference"));
        Path run = train("run", settings("2-1", "engine.kind=reference", "training.steps=4"));
        Execution.resume(run, "-s", "training.steps=8", "-s", "parallel.replicas=[]").requireRefused(
                "is of a run with parallel.replicas = [2, 1], but this one has each stage on one rank");
        Execution.resume(run, "-s", "training.steps=8", "-s", "parallel.replicas=[1, 2]").requireRefused(
                "resume with parallel.replicas = [2, 1] and parallel.schedule as it was");
        Execution.resume(run, "-s", "training.steps=8", "-s", "parallel.schedule=1f1b", "-s", "parallel.replicas=[]")
                .requireRefused("is of a run with parallel.replicas = [2, 1]");
        Execution.resume(run, "-s", "training.steps=" + STEPS, "-s", "parallel.flush-every=2").requireDone();
        RunFiles.assertSameBits(whole, run);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "parallel.schedule=1f1b | parallel.replicas = [2, 1], but parallel.schedule = 1f1b has each stage on one rank: take"
                    + " pipedream",
            "parallel.schedule=pipedream-2bw | but parallel.schedule = pipedream-2bw has each stage on one rank",
            "parallel.schedule=pipedream-vertical-sync | but parallel.schedule = pipedream-vertical-sync has each stage on one",
            "parallel.tensor=2 | but parallel.data = 1 and parallel.tensor = 2: the replicas of a stage share out its",
            "parallel.data=2 training.global-batch-size=2 | but parallel.data = 2 and parallel.tensor = 1: the replicas of a",
            "training.zero=1 | but training.zero = 1: each replica holds and updates all weights of its stage",
            "training.steps=7 | all stages have updated their weights after a multiple of 2 microbatches, so 2 must divide"
                    + " training.steps = 7",
            "parallel.flush-every=3 | so 2 must divide training.steps = 12, parallel.flush-every = 3: change them",
            "training.gradient-clip=1 | training.gradient-clip = 1.0, but under pipedream a stage updates its weights after",
            "parallel.replicas=[2] | parallel.replicas (-s): expected a number of ranks for each of the parallel.pipeline = 2",
            "training.global-batch-size=2 | pipedream updates the weights after each microbatch",
            "parallel.virtual-stages=2 | pipedream holds one stage on each rank"})
    void shouldRefuseWhatReplicasCannotHave(String setting, String sentence) {
        Execution.train(directory.resolve("refused"), settings("2-1", ("engine.kind=reference " + setting).split(" ")))
                .requireRefused(sentence);
    }

    /** One sequence a step, SGD or AdamW, the stages of a shape such as 2-1. */
    private static List<String> settings(String shape, String... more) {
        String[] counts = shape.split("-");
        List<String> settings = new ArrayList<>(Golden.named(Golden.UNTIED).settings("parallel.schedule=pipedream",
                "parallel.pipeline=" + counts.length, "parallel.replicas=[" + String.join(", ", counts) + "]",
                "training.microbatch-size=1", "training.global-batch-size=1", "training.steps=" + STEPS,
                "training.optimizer.kind=adamw", "training.learning-rate.peak=0.01"));
        settings.addAll(List.of(more));
        return settings;
    }
}
