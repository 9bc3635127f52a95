package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs in which microbatches drop halves of blocks: layout, failures and resuming change no gate. */
@Tag("real")
@Dealt(3)
@Timeout(120)
class LayerDropRunTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"reference, float32", "cpu, float32", "cpu, bfloat16", "nd4j, float32"})
    void shouldGiveTheSameBitsWhateverTheLayout(String engine, String precision) {
        String[] common = {"engine.kind=" + engine, "training.precision=" + precision};
        Path one = train("one", common, "parallel.schedule=gpipe");
        RunFiles.assertSameBits(one, train("four", common, "parallel.pipeline=4", "training.recompute=full"));
        RunFiles.assertSameBits(one, train("zbv", common, "parallel.pipeline=2", "parallel.virtual-stages=2",
                "parallel.schedule=zbv", "training.recompute=selective"));
        assertNotEquals(RunFiles.results(one), RunFiles.results(train("none", common, "training.layer-drop.keep=1")));
    }

    @Test
    void shouldDrawTheSameGatesOnAGrid() {
        String[] common = {"engine.kind=reference", "training.precision=float64", "training.microbatch-size=1"};
        double[] one = RunFiles.metrics(train("one", common), "loss");
        double[] grid = RunFiles.metrics(train("grid", common, "parallel.pipeline=2", "parallel.tensor=2",
                "parallel.data=2", "parallel.sequence=true", "training.zero=3"), "loss");
        for (int step = 0; step < one.length; step++) {
            assertEquals(one[step], grid[step], 1e-9 * one[step], "loss of step " + step);
        }
    }

    /** Also with one tree of sums for every D, and inputs of blocks that tensor-parallel ranks divide. */
    @Test
    void shouldGiveTheSameBitsWithAnInvariantTreeAndDividedInputs() {
        String[] tree = {"engine.kind=reference", "parallel.invariant=[data]"};
        RunFiles.assertSameBits(train("one-pipeline", tree), train("two-pipelines", tree, "parallel.data=2",
                "training.zero=2"));
        String[] tensor = {"engine.kind=reference", "parallel.tensor=2"};
        RunFiles.assertSameBits(train("kept", tensor),
                train("divided", tensor, "training.recompute=full", "training.recompute-partition=true"));
    }

    @Test
    void shouldDrawTheSameGatesAfterAFailureAndAfterAResume() throws IOException {
        String[] common = {"engine.kind=reference", "parallel.pipeline=2"};
        Path whole = train("whole", common);
        RunFiles.assertSameBits(whole,
                train("failed", common, "faults=[\"exception stage=1 step=2 microbatch=1 at=B\"]"));
        Path half = train("half", common, "training.checkpoint-every=1");
        Path last = half.resolve("checkpoints/step-000003");
        for (String file : RunFiles.names(last)) {
            Files.delete(last.resolve(file));
        }
        Files.delete(last);
        Execution.resume(half).requireDone();
        RunFiles.assertSameBits(whole, half);
    }

    @Test
    void shouldRefuseAModelWithExperts() {
        Path out = directory.resolve("experts");
        Execution.train(out, Golden.named("mixtral").settings("engine.kind=reference", "training.layer-drop.keep=0.5"))
                .requireRefused("training.layer-drop.keep = 0.5", "experts", "set it to 1");
        assertFalse(Files.exists(out));
        Execution.train(out, List.of("training.layer-drop.decay=3")).requireRefused("training.layer-drop.decay",
                "training.layer-drop.keep is 1");
        Execution.train(out, List.of("training.layer-drop.keep=0")).requireRefused("training.layer-drop.keep",
                "above 0 and at most 1");
    }

    private Path train(String name, String[] common, String... more) {
        Path run = directory.resolve(name);
        Execution.train(run, settings(common, more)).requireDone();
        return run;
    }

    private static List<String> settings(String[] common, String... more) {
        List<String> settings = Golden.named(Golden.TIED).settings("training.steps=3", "training.microbatch-size=1",
                "training.layer-drop.keep=0.3");
        settings.addAll(List.of(common));
        settings.addAll(List.of(more));
        return settings;
    }
}
