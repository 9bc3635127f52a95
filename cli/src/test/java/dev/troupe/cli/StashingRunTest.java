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
 * {@code troupe train} under pipedream and pipedream-vertical-sync, in steps of one microbatch: the bits of one step after
 * the other on one rank, and on several the same bits however often the pipeline is flushed, after faults, and from a
 * checkpoint.
 */
@Tag("real")
@Dealt(5)
@Timeout(120)
class StashingRunTest extends OverlappingRuns {
    private static final int STEPS = 12;

    /** Tied tables with both ends on the rank. */
    @Test
    void shouldHaveTheBitsOfOneStepAfterTheOtherOnOneRank() {
        List<String> settings = settings("gpt2-2bw", "1f1b", 1, "training.gradient-clip=0");
        Path expected = train("1f1b", settings);
        settings.add("parallel.schedule=pipedream");
        RunFiles.assertSameBits(expected, train("stashing", settings));
        settings.add("parallel.schedule=pipedream-vertical-sync");
        RunFiles.assertSameBits(expected, train("vertical", settings));
    }

    /** Flushed after each step, the run is the loop with delayed weights. */
    @Test
    void shouldHaveTheSameBitsHoweverOftenThePipelineIsFlushed() {
        RunFiles.assertSameBits(train("stashing", settings(Golden.UNTIED, "pipedream", 2, "parallel.flush-every=12")),
                train("flushed", settings(Golden.UNTIED, "pipedream", 2, "parallel.flush-every=1")));
    }

    /** Any number of flushes, also one after each step, with which the run is the loop with delayed weights. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"pipedream, 2, 1, true", "pipedream, 1, 2, false", "pipedream-vertical-sync, 2, 2, false"})
    void shouldHaveTheSameBitsOnAGrid(String schedule, int tensor, int data, boolean sequence) {
        List<String> settings = settings(Golden.UNTIED, schedule, 2, "parallel.tensor=" + tensor,
                "parallel.data=" + data, "parallel.sequence=" + sequence, "training.global-batch-size=" + data,
                "parallel.flush-every=12");
        Path stashing = train("stashing", settings);
        settings.add("parallel.flush-every=1");
        RunFiles.assertSameBits(stashing, train("flushed", settings));
        settings.add("training.zero=" + (data - 1));
        RunFiles.assertSameBits(stashing, train("shared", settings));
    }

    /** The uniform delay of two ranks is the update of 2BW. */
    @Tag("long")
    @Test
    void shouldHaveTheBitsOf2BwUnderVerticalSyncOnTwoRanks() {
        RunFiles.assertSameBits(train("2bw", settings(Golden.UNTIED, "pipedream-2bw", 1)),
                train("vertical", settings(Golden.UNTIED, "pipedream-vertical-sync", 2, "parallel.flush-every=6")));
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"pipedream, 2, float32, adamw", "pipedream, 4, bfloat16, adamw",
            "pipedream-vertical-sync, 3, float32, sgd",
            "pipedream-vertical-sync, 4, bfloat16, adamw"})
    void shouldHaveTheSameBitsOnTheCpu(String schedule, int pipeline, String precision, String optimizer) {
        String[] more = {"engine.kind=cpu", "training.precision=" + precision, "training.optimizer.kind=" + optimizer};
        List<String> settings = settings(Golden.UNTIED, schedule, pipeline, more);
        settings.add("parallel.flush-every=12");
        Path expected = train("expected", settings);
        settings.add("parallel.flush-every=1");
        RunFiles.assertSameBits(expected, train("flushed", settings));
        settings.add("parallel.flush-every=4");
        settings.add("training.checkpoint-every=4");
        RunFiles.assertSameBits(expected, train("saved", settings));
    }

    /** Ranks fail with a full pipeline of microbatches in flight. */
    @Tag("long")
    @ParameterizedTest
    @CsvSource({"pipedream, 2, 0, causalAttentionBackward, 13", "pipedream, 3, 0, adamW, 2",
            "pipedream, 3, 1, causalAttention, 20", "pipedream, 3, 2, crossEntropyBoth, 7",
            "pipedream, 3, 2, adamW, 12", "pipedream-vertical-sync, 3, 0, causalAttentionBackward, 30",
            "pipedream-vertical-sync, 3, 2, squaredSum, 25", "pipedream-vertical-sync, 3, 1, adamW, 5"})
    void shouldContinueWhereverARankFails(String schedule, int pipeline, int rank, String kernel, int call) {
        String[] more = {"engine.kind=" + FaultyEngineProvider.KIND, "parallel.flush-every=6",
                "training.checkpoint-every=6"};
        assertRecovers(settings(Golden.UNTIED, schedule, pipeline, more), rank, kernel, call);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"pipedream, 3", "pipedream, 2", "pipedream-vertical-sync, 3"})
    void shouldResumeOnTheSameRanksAlone(String schedule, int pipeline) {
        Path whole = train("whole", settings(Golden.UNTIED, schedule, pipeline));
        Path run = train("run", settings(Golden.UNTIED, schedule, pipeline, "training.steps=4"));
        Execution.resume(run, "-s", "training.steps=8", "-s", "parallel.pipeline=" + (pipeline + 1))
                .requireRefused(schedule + " on " + (pipeline + 1) + " ranks reads");
        Execution.resume(run, "-s", "training.steps=" + STEPS, "-s", "parallel.flush-every=2").requireDone();
        RunFiles.assertSameBits(whole, run);
        Execution.resume(run, "-s", "training.steps=14", "-s", "parallel.schedule=1f1b").requireDone(); // on the newest weights
        Execution
                .resume(run, "-s", "training.steps=16", "-s", "parallel.schedule=pipedream-2bw", "-s",
                        "parallel.pipeline=2")
                .requireDone();
        assertEquals(16, RunFiles.results(run).size());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "training.gradient-clip=1 | training.gradient-clip = 1.0, but under pipedream a stage updates its weights after"
                    + " each of its backwards, and the norm of all gradients is there when those of stage 0 are",
            "training.loss-scale=8 | training.loss-scale = 8.0, but under pipedream",
            "model.from= | the first and the last stage share the table of tied embeddings, but under pipedream",
            "training.global-batch-size=2 | pipedream updates the weights after each microbatch, so that a step has 1, but was"
                    + " asked for 2 in a step",
            "parallel.split-cool-down=true | parallel.split-cool-down = true, but pipedream has no cool-down",
            "parallel.flush-every=5 | parallel.flush-every = 5 must divide training.steps = 12",
            "parallel.virtual-stages=2 | pipedream holds one stage on each rank"})
    void shouldRefuseWhatWouldDelayUpdates(String setting, String sentence) {
        List<String> settings = setting.startsWith("model.from")
                ? settings("gpt2-2bw", "pipedream", 2, "training.gradient-clip=0")
                : settings(Golden.UNTIED, "pipedream", 2, setting.split(" "));
        Execution.train(directory.resolve("refused"), settings).requireRefused(sentence);
    }

    /** One sequence a step, AdamW. */
    private static List<String> settings(String golden, String schedule, int pipeline, String... more) {
        List<String> settings = new ArrayList<>(Golden.named(golden).settings("parallel.schedule=" + schedule,
                "engine.kind=reference", "parallel.pipeline=" + pipeline, "training.microbatch-size=1",
                "training.global-batch-size=1", "training.steps=" + STEPS, "training.optimizer.kind=adamw",
                "training.learning-rate.peak=0.01"));
        settings.addAll(List.of(more));
        return settings;
    }
}
