package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On every engine that computes, and with backwards whole or in two, recomputing changes no bit. */
@Tag("real")
@Timeout(120)
class RecomputeTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"reference, gpipe, 1", "cpu, zbv, 2", "cpu, interleaved-1f1b, 2", "nd4j, zb-h1, 1"})
    void shouldChangeNoBit(String engine, String schedule, int virtualStages) throws IOException {
        Path kept = train(engine, schedule, virtualStages, "none");
        for (String recompute : List.of("selective", "full")) {
            Path again = train(engine, schedule, virtualStages, recompute);
            assertEquals(RunFiles.results(kept), RunFiles.results(again), recompute);
            assertArrayEquals(gradients(kept), gradients(again), recompute);
            assertArrayEquals(RunFiles.exportedBytes(kept), RunFiles.exportedBytes(again), recompute);
        }
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"reference, zb-h1, 1", "reference, zbv, 2", "cpu, 1f1b, 1", "cpu, zb-h1, 1", "nd4j, 1f1b, 1",
            "nd4j, zbv, 2"})
    void shouldChangeNoBitOfOtherSchedules(String engine, String schedule, int virtualStages) throws IOException {
        shouldChangeNoBit(engine, schedule, virtualStages);
    }

    private Path train(String engine, String schedule, int virtualStages, String recompute) {
        Path run = directory.resolve(recompute);
        Execution.train(run, Golden.named(Golden.TIED).settings("engine.kind=" + engine, "parallel.pipeline=2",
                "training.microbatch-size=1", "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + virtualStages, "training.steps=3", "training.recompute=" + recompute),
                "--save-gradients", "1").requireDone();
        return run;
    }

    private static byte[] gradients(Path run) throws IOException {
        return Files.readAllBytes(run.resolve("gradients-step-1.safetensors"));
    }
}
