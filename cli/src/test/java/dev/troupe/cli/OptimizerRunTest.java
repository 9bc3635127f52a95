package dev.troupe.cli;

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
 * The state of an optimizer, which outlives a rank and a run: the bits of an uninterrupted run after a rank has failed
 * between its updates, and from a checkpoint on another number of ranks.
 */
@Tag("real")
@Dealt(5)
@Timeout(120)
class OptimizerRunTest extends OverlappingRuns {
    /** A rank fails in its sixth update of eight, with four matrices in each of its two blocks. */
    @ParameterizedTest
    @CsvSource("pipedream-2bw, muon, true, sgdMomentum, 44")
    void shouldContinueWithTheStateOfTheOptimizer(String schedule, String kind, boolean feedback, String kernel,
            int call) {
        String[] more = {"training.optimizer.kind=" + kind, "training.optimizer.error-feedback=" + feedback};
        List<String> breaking = settings(schedule, 2, more);
        breaking.add("engine.kind=" + FaultyEngineProvider.KIND);
        assertRecovers(breaking, 1, kernel, call);
        List<String> cut = settings(schedule, 3, more);
        cut.add("training.steps=4");
        Path run = train("cut", cut);
        Execution.resume(run, "-s", "training.steps=8", "-s", "parallel.pipeline=1").requireDone();
        RunFiles.assertSameBits(directory.resolve("whole"), run);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1f1b, muon, false, sgdMomentum, 44", "pipedream-2bw, adamw, true, adamW, 6",
            "pipedream-2bw, sgd, true, sgd, 6"})
    void shouldContinueWithItUnderOtherSchedules(String schedule, String kind, boolean feedback, String kernel,
            int call) {
        shouldContinueWithTheStateOfTheOptimizer(schedule, kind, feedback, kernel, call);
    }

    /** With ZeRO 1 a rank corrects its share of an update. */
    @Tag("long")
    @Test
    void shouldFeedBackTheErrorOnSharesToo() {
        String[] more = {"training.optimizer.error-feedback=true", "parallel.data=2"};
        List<String> shared = settings("pipedream-2bw", 2, more);
        Path whole = train("whole", shared);
        shared.add("training.zero=1");
        RunFiles.assertSameBits(whole, train("shared", shared));
    }

    private static List<String> settings(String schedule, int pipeline, String... more) {
        List<String> settings = new ArrayList<>(Golden.named("gpt2-2bw").settings("engine.kind=reference",
                "parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline, "training.microbatch-size=1",
                "training.checkpoint-every=2")); // if steps overlap, the pipeline is flushed there
        settings.addAll(List.of(more));
        return settings;
    }
}
