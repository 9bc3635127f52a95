package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.schedule.family.Schedules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every schedule on real stages: PyTorch's losses, and GPipe's bits if gradients are added in its order. */
@Tag("real")
@Dealt(5)
@Timeout(60)
class EveryScheduleTest {
    private static final double TOLERANCE = 1e-9;
    /** Its backwards run from the last microbatch to the first. */
    private static final String REVERSED = "looped-bfs";

    @TempDir
    private Path directory;

    static List<String> schedules() {
        return Schedules.names();
    }

    @ParameterizedTest
    @MethodSource("schedules")
    void shouldTrainAsPyTorchAndGPipeDoOnTwoRanks(String schedule) {
        requireTheirResults(schedule, 2);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("schedules")
    void shouldTrainAsPyTorchAndGPipeDoOnFourRanks(String schedule) {
        requireTheirResults(schedule, 4);
    }

    private void requireTheirResults(String schedule, int pipeline) {
        Golden golden = Golden.named(Golden.UNTIED);
        Path run = train(golden, schedule, pipeline);
        double[] losses = RunFiles.metrics(run, "loss");
        for (int step = 0; step < golden.steps(); step++) {
            assertEquals(golden.losses()[step], losses[step], TOLERANCE * golden.losses()[step],
                    "loss of step " + step);
        }
        if (!schedule.equals(REVERSED)) {
            assertEquals(RunFiles.results(train(golden, "gpipe", pipeline)), RunFiles.results(run));
        }
    }

    private Path train(Golden golden, String schedule, int pipeline) {
        Path run = directory.resolve("as-" + schedule);
        if (!run.toFile().exists()) {
            List<String> settings = new ArrayList<>(golden.settings("engine.kind=reference",
                    "training.precision=float64",
                    "parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline, "training.microbatch-size=1",
                    "parallel.virtual-stages=" + Schedules.named(schedule).usualVirtualStages()));
            Execution.train(run, settings).requireDone();
        }
        return run;
    }
}
