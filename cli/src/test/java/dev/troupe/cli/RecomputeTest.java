package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On every engine that computes, and with backwards whole or in two, recomputing changes no bit. */
@Tag("real")
@Dealt(5)
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

    /** Blocks replayed together and ahead of their gradients: pairs, halves of backwards, versions of the weights. */
    @ParameterizedTest
    @CsvSource({"reference, 1f1b, 1", "cpu, zbv, 2"})
    void shouldChangeNoBitAheadOfTheGradient(String engine, String schedule, int virtualStages) throws IOException {
        assertSameBitsAhead(engine, schedule, virtualStages, Golden.TIED);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"cpu, gpipe, 1", "reference, interleaved-1f1b, 2", "cpu, looped-bfs, 2", "nd4j, zb-h1, 1",
            "reference, zb-h2, 1", "reference, dualpipev, 2", "reference, v-half, 2", "reference, v-min, 2",
            "reference, interleaved-zero-bubble, 2", "cpu, pipedream-2bw, 1"})
    void shouldChangeNoBitAheadOfTheGradientOfOtherSchedules(String engine, String schedule, int virtualStages)
            throws IOException {
        assertSameBitsAhead(engine, schedule, virtualStages, Golden.TIED);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1f1b, 2, 1, 0", "zb-h1, 2, 1, 0", "gpipe, 2, 2, 1", "1f1b, 1, 2, 3"})
    void shouldChangeNoBitAheadOfTheGradientOnAGrid(String schedule, int tensor, int data, int zero)
            throws IOException {
        assertSameBitsAhead("cpu", schedule, 1, Golden.UNEVEN, "parallel.tensor=" + tensor, "parallel.data=" + data,
                "training.zero=" + zero, "parallel.sequence=" + (tensor > 1), "training.dropout=0.1");
    }

    /** Steps of one microbatch, with replays that read the weights of several updates before. */
    @Test
    void shouldChangeNoBitAheadOfTheGradientOnStashedWeights() throws IOException {
        assertSameBitsAhead("reference", "pipedream", 1, Golden.UNTIED, "training.global-batch-size=1",
                "training.gradient-clip=0", "training.steps=6", "training.dropout=0.1");
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"cpu, pipedream, 3, float32", "cpu, pipedream-vertical-sync, 3, bfloat16",
            "reference, pipedream-vertical-sync, 2, float32"})
    void shouldChangeNoBitAheadOfTheGradientOfStagesThatUpdateAlone(String engine, String schedule, int pipeline,
            String precision) throws IOException {
        assertSameBitsAhead(engine, schedule, 1, Golden.UNTIED, "parallel.pipeline=" + pipeline,
                "training.global-batch-size=1", "training.gradient-clip=0", "training.steps=6",
                "training.precision=" + precision);
    }

    private void assertSameBitsAhead(String engine, String schedule, int virtualStages, String golden, String... more)
            throws IOException {
        Path kept = train(golden, engine, schedule, virtualStages, "none", more);
        for (String[] keys : new String[][]{{"training.recompute-ahead=all"},
                {"training.recompute-ahead=1MiB", "training.recompute-every=2"}}) {
            Path again = train(golden, engine, schedule, virtualStages, "full",
                    Stream.concat(Stream.of(more), Stream.of(keys)).toArray(String[]::new));
            assertTrue(Files.readString(again.resolve("run.json")).contains("0RECOMPUTE0"), "no replay in the plan");
            assertEquals(RunFiles.results(kept), RunFiles.results(again));
            assertArrayEquals(gradients(kept), gradients(again));
            assertArrayEquals(RunFiles.exportedBytes(kept), RunFiles.exportedBytes(again));
        }
    }

    /** In the middle of a step, and of two steps that overlap. */
    @ParameterizedTest
    @CsvSource({"1f1b, 1", "pipedream-2bw, 1"})
    void shouldContinueWhenARankFailsAtAReplay(String schedule, int step) throws IOException {
        Path whole = train(Golden.TIED, "reference", schedule, 1, "none");
        Path run = train(Golden.TIED, "reference", schedule, 1, "full", "training.recompute-ahead=all",
                "faults=[\"exception stage=0 step=" + step + " microbatch=1 at=recompute\"]");
        assertTrue(Files.readString(run.resolve("events.jsonl")).contains("recompute"), "nothing failed at a replay");
        assertEquals(RunFiles.results(whole), RunFiles.results(run));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(run));
    }

    @Test
    void shouldRefuseAPlanWithReplaysThatHaveNothingToReplay() throws IOException {
        Path plan = Files.writeString(directory.resolve("replays.csv"), "0F0,0RECOMPUTE0,0B0\n1F0,1B0\n");
        Execution.train(directory.resolve("refused"), Golden.named(Golden.TIED).settings("parallel.schedule=" + plan,
                "parallel.pipeline=2", "training.microbatch-size=1", "training.global-batch-size=1"))
                .requireRefused("the plan has RECOMPUTE, but the run computes no forward again");
    }

    private Path train(String engine, String schedule, int virtualStages, String recompute) {
        return train(Golden.TIED, engine, schedule, virtualStages, recompute);
    }

    private Path train(String golden, String engine, String schedule, int virtualStages, String recompute,
            String... more) {
        Path run = directory.resolve(recompute + more.length);
        List<String> settings = new ArrayList<>(Golden.named(golden).settings("engine.kind=" + engine,
                "parallel.pipeline=2", "training.microbatch-size=1", "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + virtualStages, "training.steps=3", "training.recompute=" + recompute));
        settings.addAll(List.of(more));
        Execution.train(run, settings, "--save-gradients", "1").requireDone();
        return run;
    }

    private static byte[] gradients(Path run) throws IOException {
        return Files.readAllBytes(run.resolve("gradients-step-1.safetensors"));
    }
}
