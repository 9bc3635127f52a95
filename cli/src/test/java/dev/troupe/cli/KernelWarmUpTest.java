package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each kind of kernel of a run has run once before the run begins, and a kernel that cannot run is refused. */
@Tag("real")
@Dealt(5)
@Timeout(60)
class KernelWarmUpTest {
    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothing() throws InterruptedException {
        FaultyEngineProvider.breakNothing();
        Leftovers.requireNoThread();
    }

    @ParameterizedTest
    @CsvSource({"1, linear, in 1F3", "0, embedding, in 0F3",
            "1, crossEntropyBoth, in 1F3", "0, squaredSum, in 0NORM",
            "0, adamW, in 0UPDATE"})
    void shouldRefuseWhatTheMachineCannotRunBeforeAnythingIsWritten(int rank, String kernel, String where) {
        FaultyEngineProvider.refuse(rank, kernel);
        Path run = directory.resolve("run");
        Execution.train(run, settings(FaultyEngineProvider.KIND)).requireRefused("rank " + rank
                + " cannot run on this machine what the run needs: IllegalStateException: dnnl_matmul_primitive_desc_create"
                + " failed with status 3, " + where + ", with engine.kind = faulty");
        assertFalse(Files.exists(run), "nothing was written");
    }

    @Test
    void shouldReportItsTime() {
        Execution done = Execution.train(directory.resolve("run"), settings("reference", "training.steps=1"));
        done.requireDone();
        assertTrue(done.output().contains("Warm-up: each kind of kernel ran once, in "), done.output());
    }

    /** A kernel that the warm-up did not call could be refused for the first time in the middle of the run. */
    @ParameterizedTest
    @CsvSource({"1f1b, 1, 1, 1, 0, none, 0", "zbv, 2, 1, 1, 0, full, 0", "zb-h1, 1, 2, 1, 0, selective, 0.1",
            "interleaved-1f1b, 2, 1, 2, 1, none, 0", "1f1b, 1, 1, 2, 3, none, 0", "gpipe, 1, 1, 2, 2, selective, 0"})
    void shouldRunEveryKernelThatTheRunNeedsAtItsShape(String schedule, int virtualStages, int tensor, int data,
            int zero, String recompute, double dropout) {
        RecordingEngineProvider.takeWarmUp();
        RecordingEngineProvider.takeRun();
        Execution.train(directory.resolve("run"), settings(RecordingEngineProvider.KIND, "training.steps=2",
                "training.microbatch-size=1", "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + virtualStages, "parallel.tensor=" + tensor, "parallel.data=" + data,
                "training.zero=" + zero, "training.recompute=" + recompute, "training.dropout=" + dropout,
                "data.validation-fraction=0.3", "training.validate-every=1", "training.loss-scale=8"))
                .requireDone();
        Set<String> needed = RecordingEngineProvider.takeRun();
        assertFalse(needed.isEmpty());
        needed.removeAll(RecordingEngineProvider.takeWarmUp());
        assertEquals(Set.of(), needed);
    }

    private static List<String> settings(String engine, String... more) {
        List<String> settings = Golden.named(Golden.TIED).settings("engine.kind=" + engine, "parallel.pipeline=2",
                "training.microbatch-size=2");
        settings.addAll(List.of(more));
        return settings;
    }
}
