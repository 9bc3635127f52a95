package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
 * {@code troupe train} under pipedream-2bw: PyTorch's results with a delay of one update, and the same bits on any number of
 * ranks, however often the pipeline is flushed, after faults, and from a checkpoint.
 */
@Tag("real")
@Dealt(5)
@Timeout(120)
class OverlappingRunTest extends OverlappingRuns {
    private static final String SCHEDULE = "parallel.schedule=pipedream-2bw";
    /** AdamW, clipping, tied tables. */
    private static final Golden DELAYED = Golden.named("gpt2-2bw");

    private static final double FLOAT32 = 1e-4;

    @Test
    void shouldTrainAsPyTorchDoesWithADelayOfOne() {
        new GoldenRun(DELAYED, settings(3, "parallel.flush-every=4"), directory).requireFloat64("reference");
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1, 8, lazy, 1", "2, 1, lazy, 1", "2, 8, eager, 1", "3, 2, lazy, 2", "4, 8, lazy, 1"})
    void shouldTrainAsPyTorchDoesUnderEveryPlan(int pipeline, int flushEvery, String updates, int warmUp) {
        List<String> settings = settings(pipeline, "parallel.flush-every=" + flushEvery,
                "parallel.updates=" + updates, "parallel.warm-up=" + warmUp);
        new GoldenRun(DELAYED, settings, directory).requireFloat64("reference");
        settings.add("engine.kind=cpu");
        Path run = train("cpu", settings);
        double[] losses = RunFiles.metrics(run, "loss");
        double[] norms = RunFiles.metrics(run, "gradient_norm");
        for (int step = 0; step < DELAYED.steps(); step++) {
            assertEquals(DELAYED.losses()[step], losses[step], FLOAT32 * losses[step], "loss of step " + step);
            assertEquals(DELAYED.norms()[step], norms[step], FLOAT32 * norms[step], "norm of step " + step);
        }
    }

    @ParameterizedTest
    @CsvSource({"2, 2, 1, false", "2, 1, 2, false"})
    void shouldTrainAsPyTorchDoesOnAGrid(int pipeline, int tensor, int data, boolean sequence) {
        new GoldenRun(DELAYED, grid(pipeline, tensor, data, sequence), directory).requireFloat64("reference");
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1, 1, 2, false", "1, 2, 1, true", "3, 2, 1, true", "2, 2, 2, true"})
    void shouldTrainAsPyTorchDoesOnOtherGrids(int pipeline, int tensor, int data, boolean sequence) {
        new GoldenRun(DELAYED, grid(pipeline, tensor, data, sequence, "parallel.updates=eager"), directory)
                .requireFloat64("reference");
    }

    /** On one rank both ends of the table are added before the sum over pipelines, and on several after it. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"2, 1, 1, 3", "1, 2, 2, 4", "2, 2, 2, 3"})
    void shouldHaveTheSameBitsOnAnyNumberOfRanksOfAGrid(int tensor, int data, int pipeline, int other) {
        RunFiles.assertSameBits(train("one", grid(pipeline, tensor, data, tensor > 1, "engine.kind=cpu")),
                train("other", grid(other, tensor, data, tensor > 1, "engine.kind=cpu", "parallel.flush-every=2")));
    }

    /** Two ranks that each update a share of the weights, and gather the share of the other one. */
    @ParameterizedTest
    @CsvSource("2, 1, false, lazy")
    void shouldHaveTheSameBitsWhenTheOptimizerIsSharedOut(int pipeline, int tensor, boolean sequence, String updates) {
        String[] more = {"parallel.updates=" + updates, "training.checkpoint-every=4"};
        Path each = train("each", grid(pipeline, tensor, 2, sequence, more));
        List<String> settings = grid(pipeline, tensor, 2, sequence, more);
        settings.add("training.zero=1");
        Path shared = train("shared", settings);
        RunFiles.assertSameBits(each, shared);
        Execution compared = Execution.command("bisect", each.toString(), shared.toString());
        assertTrue(compared.output().startsWith("Equal: "), compared.output() + compared.errors());
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"3, 1, false, lazy", "2, 2, true, eager", "1, 1, false, lazy"})
    void shouldHaveTheSameBitsOnOtherGridsWhenTheOptimizerIsSharedOut(int pipeline, int tensor, boolean sequence,
            String updates) {
        shouldHaveTheSameBitsWhenTheOptimizerIsSharedOut(pipeline, tensor, sequence, updates);
    }

    @Test
    @Tag("long")
    void shouldResumeOnAnotherGrid() {
        Path whole = train("whole", settings(1));
        Path run = train("run", grid(2, 2, 2, true, "training.steps=4", "training.zero=1"));
        Execution.resume(run, "-s", "training.steps=8", "-s", "parallel.pipeline=1", "-s", "parallel.tensor=1", "-s",
                "parallel.data=1", "-s", "parallel.sequence=false", "-s", "training.zero=0").requireDone();
        double[] expected = RunFiles.metrics(whole, "loss");
        assertArrayEquals(expected, RunFiles.metrics(run, "loss"), FLOAT32);
    }

    /** A place of two pipelines starts again as one. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1, 2, 1, adamW, 2", "2, 1, 0, causalAttentionBackward, 9", "1, 2, 3, squaredSum, 20",
            "2, 2, 5, causalAttention, 11"})
    void shouldContinueWhenARankOfAGridFails(int tensor, int data, int rank, String kernel, int call) {
        assertRecovers(grid(2, tensor, data, tensor > 1, "engine.kind=" + FaultyEngineProvider.KIND,
                "parallel.flush-every=4", "training.zero=" + (data - 1)), rank, kernel, call);
    }

    private static List<String> grid(int pipeline, int tensor, int data, boolean sequence, String... more) {
        List<String> settings = settings(pipeline, more);
        settings.addAll(List.of("parallel.tensor=" + tensor, "parallel.data=" + data, "parallel.sequence=" + sequence));
        return settings;
    }

    @Test
    @Tag("long")
    void shouldHaveTheSameBitsOnAnyNumberOfRanks() {
        Path one = train("one", settings(1, "parallel.flush-every=8"));
        RunFiles.assertSameBits(one, train("three", settings(3, "parallel.flush-every=2", "parallel.warm-up=2")));
        RunFiles.assertSameBits(one,
                train("two", settings(2, "parallel.updates=eager", "training.checkpoint-every=4")));
    }

    /** With a scale of 3e38 every step is skipped, and with 65536, the first one that adapts, none. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"adamw, bfloat16, dynamic", "sgd, float32, 1024", "adamw, float32, 3e38"})
    void shouldHaveTheSameBitsInMixedPrecisionAndWithAScaledLoss(String optimizer, String precision, String scale) {
        String[] more = {"engine.kind=cpu", "training.optimizer.kind=" + optimizer, "training.precision=" + precision,
                "training.loss-scale=" + scale, "parallel.flush-every=4"};
        Path one = train("one", settings(1, more));
        RunFiles.assertSameBits(one, train("two", settings(2, more)));
        RunFiles.assertSameBits(one, train("four", settings(4, more)));
    }

    /** Of two ranks the first fails with two steps in flight. */
    @ParameterizedTest
    @CsvSource("0, causalAttentionBackward, 17")
    void shouldContinueWithTwoStepsInFlight(int rank, String kernel, int call) {
        assertRecovers(rank, kernel, call);
    }

    /** The velocity of the last flush, which updates have changed since. */
    @ParameterizedTest
    @CsvSource("1, sgdMomentum, 13")
    void shouldContinueWithTheVelocityOfMomentum(int rank, String kernel, int call) {
        assertRecovers(settings(2, "engine.kind=" + FaultyEngineProvider.KIND, "parallel.flush-every=4",
                "training.optimizer.kind=sgd", "training.optimizer.momentum=0.9", "training.optimizer.nesterov=true"),
                rank, kernel, call);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1, adamW, 3", "0, causalAttention, 3", "0, causalAttention, 24", "1, causalAttention, 40",
            "1, squaredSum, 30",
            "0, adamW, 1", "0, adamW, 8", "1, causalAttentionBackward, 60", "1, crossEntropyBoth, 12"})
    void shouldContinueWhereverARankFails(int rank, String kernel, int call) {
        assertRecovers(rank, kernel, call);
    }

    private void assertRecovers(int rank, String kernel, int call) {
        String[] more = {"engine.kind=" + FaultyEngineProvider.KIND, "parallel.flush-every=4",
                "training.checkpoint-every=4"};
        assertRecovers(settings(2, more), rank, kernel, call);
    }

    @Test
    @Tag("long")
    void shouldResumeOnAnotherNumberOfRanks() {
        Path whole = train("whole", settings(1));
        Path run = train("run", settings(3, "training.steps=4"));
        Execution.resume(run, "-s", "training.steps=6", "-s", "parallel.pipeline=2", "-s", "parallel.flush-every=2")
                .requireDone();
        Execution.resume(run, "-s", "training.steps=8", "-s", "parallel.pipeline=1").requireDone();
        RunFiles.assertSameBits(whole, run);
    }

    /** One version becomes two that are the same, and of two the newest is the one. */
    @Test
    @Tag("long")
    void shouldResumeFromStepsThatDidNotOverlapAndBack() {
        Path run = train("run", settings(2, "training.steps=2", "parallel.schedule=1f1b"));
        Execution.resume(run, "-s", "training.steps=4", "-s", SCHEDULE).requireDone();
        Execution.resume(run, "-s", "training.steps=6", "-s", "parallel.schedule=1f1b").requireDone();
        assertEquals(6, RunFiles.results(run).size());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "parallel.data=2 training.zero=2 | training.zero = 2, but under pipedream-2bw a rank holds whole versions of its weights and whole sums",
            "parallel.split-cool-down=true | parallel.split-cool-down = true, but pipedream-2bw has no cool-down",
            "parallel.flush-every=3 | parallel.flush-every = 3 must divide training.steps = 8",
            "parallel.virtual-stages=2 | pipedream-2bw",
            "training.microbatch-size=8 | pipedream-2bw on 3 ranks needs 2 microbatches or more in a step"})
    void shouldRefuseWhatItCannotOverlap(String setting, String sentence) {
        Execution.train(directory.resolve("refused"), settings(3, setting.split(" "))).requireRefused(sentence);
    }

    private static List<String> settings(int pipeline, String... more) {
        List<String> settings = new ArrayList<>(DELAYED.settings(SCHEDULE, "engine.kind=reference",
                "parallel.pipeline=" + pipeline, "training.microbatch-size=1"));
        settings.addAll(List.of(more));
        return settings;
    }
}
