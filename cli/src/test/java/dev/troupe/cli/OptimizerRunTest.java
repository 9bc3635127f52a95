package dev.troupe.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What an optimizer remembers outlives a rank and a run: the bits of an uninterrupted run after a rank has failed between
 * its updates, and from a checkpoint on another number of ranks.
 */
@Tag("real")
@Timeout(120)
class OptimizerRunTest extends OverlappingRuns {
    /** A rank fails in its sixth update of eight, with four matrices in each of its two blocks. */
    @ParameterizedTest
    @CsvSource("pipedream-2bw, muon, sgdMomentum, 44")
    void shouldGoOnWithWhatTheOptimizerRemembers(String schedule, String kind, String kernel, int call) {
        String optimizer = "training.optimizer.kind=" + kind;
        assertRecovers(settings(schedule, 2, optimizer, "engine.kind=" + FaultyEngineProvider.KIND), 1, kernel, call);
        Path cut = train("cut", settings(schedule, 3, optimizer, "training.steps=4"));
        Execution.resume(cut, "-s", "training.steps=8", "-s", "parallel.pipeline=1").requireDone();
        RunFiles.assertSameBits(directory.resolve("whole"), cut);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource("1f1b, muon, sgdMomentum, 44")
    void shouldGoOnWithItUnderOtherSchedules(String schedule, String kind, String kernel, int call) {
        shouldGoOnWithWhatTheOptimizerRemembers(schedule, kind, kernel, call);
    }

    private static List<String> settings(String schedule, int pipeline, String... more) {
        List<String> settings = new ArrayList<>(Golden.named("gpt2-2bw").settings("engine.kind=reference",
                "parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline, "training.microbatch-size=1",
                "training.checkpoint-every=2")); // where steps overlap, the pipeline is flushed there
        settings.addAll(List.of(more));
        return settings;
    }
}
