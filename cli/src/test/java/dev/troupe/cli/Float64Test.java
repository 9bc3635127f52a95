package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs in float64 on every engine that has it, and on the one that auto takes. */
@Tag("real")
@Timeout(120)
class Float64Test {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"auto", "nd4j", "reference"})
    void shouldComeToTheLossesOfPyTorchInFloat64(String engine) {
        Golden golden = Golden.named(Golden.TIED);
        List<String> settings = golden.settings("engine.kind=" + engine, "training.precision=float64",
                "training.steps=3", "parallel.pipeline=2");
        Execution.train(directory.resolve("run"), settings).requireDone();
        double[] losses = RunFiles.metrics(directory.resolve("run"), "loss");
        assertEquals(3, losses.length);
        for (int step = 0; step < losses.length; step++) {
            assertEquals(golden.losses()[step], losses[step], 1e-9 * golden.losses()[step], "step " + step);
        }
    }
}
