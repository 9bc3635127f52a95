package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Dropout of a run, which its layout does not change. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class DropoutTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"reference", "cpu"})
    void shouldGiveTheSameBitsWhateverTheLayout(String engine) {
        Path one = train("one", engine, "parallel.schedule=gpipe");
        RunFiles.assertSameBits(one, train("four", engine, "parallel.pipeline=4", "training.recompute=full"));
        RunFiles.assertSameBits(one, train("zbv", engine, "parallel.pipeline=2", "parallel.virtual-stages=2",
                "parallel.schedule=zbv", "engine.threads=2"));
        assertNotEquals(RunFiles.results(one), RunFiles.results(train("none", engine, "training.dropout=0")));
    }

    /** Sums have another order if ranks share a stage or a batch, so the losses differ in their last digits. */
    @ParameterizedTest(name = "P={0} T={1} D={2}, sequence {3}, {4}")
    @CsvSource({"2, 2, 2, true, 1f1b, 1"})
    void shouldDropTheSameOnAGrid(int pipeline, int tensor, int data, boolean sequence, String schedule,
            int virtualStages) {
        shouldDropTheSameOnEveryGrid(pipeline, tensor, data, sequence, schedule, virtualStages);
    }

    @Tag("long")
    @ParameterizedTest(name = "P={0} T={1} D={2}, sequence {3}, {4}")
    @CsvSource({"1, 2, 1, false, gpipe, 1", "1, 4, 1, true, 1f1b, 1", "1, 1, 4, false, gpipe, 1",
            "2, 1, 2, false, zb-h1, 1", "2, 2, 1, true, interleaved-1f1b, 2", "2, 2, 2, false, 1f1b, 1",
            "4, 2, 2, true, 1f1b, 1"})
    void shouldDropTheSameOnEveryGrid(int pipeline, int tensor, int data, boolean sequence, String schedule,
            int virtualStages) {
        String[] grid = {"parallel.pipeline=" + pipeline, "parallel.tensor=" + tensor, "parallel.data=" + data,
                "parallel.sequence=" + sequence, "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + virtualStages, "training.precision=float64",
                "training.microbatch-size=1"};
        double[] one = RunFiles.metrics(
                train("one", "reference", "training.precision=float64", "training.microbatch-size=1"), "loss");
        Path shared = train("grid", "reference", grid);
        double[] found = RunFiles.metrics(shared, "loss");
        for (int step = 0; step < one.length; step++) {
            assertEquals(one[step], found[step], 1e-9 * one[step], "loss of step " + step);
        }
        String[] again = Arrays.copyOf(grid, grid.length + 1);
        again[grid.length] = "training.recompute=full";
        RunFiles.assertSameBits(shared, train("again", "reference", again));
    }

    @Test
    void shouldDropNothingOutOfWhatItValidatesOn() {
        assertEquals(validated("none", "training.dropout=0"), validated("half", "training.dropout=0.5"));
    }

    /** The validation loss of a run that does not change its weights. */
    private List<String> validated(String name, String dropout) {
        List<String> settings = Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=1",
                "training.validate-every=1", "data.validation-fraction=0.3", "training.microbatch-size=1",
                "parallel.pipeline=2", "training.learning-rate.peak=1e-30", dropout);
        List<String> lines = Execution.train(directory.resolve(name), settings).requireDone().output().lines()
                .filter(line -> line.startsWith("after 1 steps: validation loss")).toList();
        assertEquals(1, lines.size());
        return lines;
    }

    @Test
    void shouldDropTheSameOnEveryEngine() {
        double[] reference = RunFiles.metrics(train("reference", "reference"), "loss");
        assertArrayEquals(reference, RunFiles.metrics(train("cpu", "cpu"), "loss"), 1e-4);
    }

    @Test
    void shouldRefuseAnEngineThatCannot() {
        Path out = directory.resolve("nd4j");
        Execution.train(out, List.of("engine.kind=nd4j", "training.dropout=0.1")).requireRefused("training.dropout",
                "nd4j", "engine.kind = cpu");
        assertFalse(Files.exists(out));
    }

    private Path train(String name, String engine, String... more) {
        List<String> settings = Golden.named(Golden.TIED).settings("engine.kind=" + engine, "training.steps=3",
                "training.microbatch-size=2", "training.dropout=0.2");
        settings.addAll(List.of(more));
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }
}
