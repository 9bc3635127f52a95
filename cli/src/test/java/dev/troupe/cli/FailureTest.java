package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A run that does not recover gives the reason in one sentence, ends with 1, releases all resources and can be resumed
 * from its checkpoint.
 */
@Tag("real")
@Dealt(2)
@Timeout(60)
class FailureTest {
    @TempDir
    private Path directory;

    @AfterEach
    void leaveNothing() throws InterruptedException {
        FaultyEngineProvider.breakNothing();
        Leftovers.requireNoThread();
    }

    /** Two ranks, four microbatches a step: a rank calls causalAttention once for each block and microbatch. */
    @ParameterizedTest
    @CsvSource({
            "0, causalAttention,       1, rank 0: stage 0 failed in 0F0 in step 0",
            "1, causalAttention,       9, rank 1: stage 1 failed in 1F0 in step 1",
            "1, causalAttentionBackward, 2, rank 1: stage 1 failed in 1B0 in step 0",
            "0, adamW,                 1, rank 0: stage 0 failed in 0UPDATE in step 0",
            "1, allocate,              3, rank 1: stage 1 failed loading its weights"})
    void shouldNameRankStageActionAndStep(int rank, String kernel, int call, String sentence) {
        FaultyEngineProvider.breakCall(rank, kernel, call);
        Execution execution = Execution.train(directory.resolve("run"), faulty());
        execution.requireFailed(sentence, "the wire came loose");
        assertEquals(1, execution.errors().lines().count(), execution.errors());
    }

    /** Those that wait for it in a collective leave it at once, and do not speak for it. */
    @ParameterizedTest
    @CsvSource({
            "3, causalAttention, 3, rank 3: stage 0 failed in 0F1 in step 0",
            "6, adamW,           1, rank 6: stage 1 failed in 1UPDATE in step 0"})
    void shouldNameTheRankOfAGridThatFailed(int rank, String kernel, int call, String sentence) {
        FaultyEngineProvider.breakCall(rank, kernel, call);
        List<String> settings = faulty();
        settings.addAll(List.of("parallel.tensor=2", "parallel.data=2"));
        Execution execution = Execution.train(directory.resolve("run"), settings);
        execution.requireFailed(sentence, "the wire came loose");
        assertEquals(1, execution.errors().lines().count(), execution.errors());
    }

    /** The rank is not started again, and no thread waits for it for ever. */
    @Test
    void shouldEndARunOfWhichARankHangs() {
        List<String> settings = faulty();
        settings.addAll(List.of("recovery.hang-timeout=1s", "transport.timeout=8s",
                "faults=[\"hang rank=1 step=1 microbatch=2 at=F\"]"));
        Execution.train(directory.resolve("run"), settings).requireFailed("rank 1 hangs: it has been computing 1F2 in"
                + " step 1 for ", "hang-step-1-epoch-0.txt");
        Struck.require(directory.resolve("run"), "hang rank=1 step=1 microbatch=2 at=F");
    }

    /** The first action takes many times recovery.hang-timeout, which nothing has taken before; but its kernels end. */
    @Tag("long")
    @Test
    void shouldNotTakeAnEngineForHangingThatIsAHundredTimesSlower() {
        Execution execution = Execution.train(directory.resolve("run"),
                Golden.named(Golden.TIED).settings("engine.kind=" + SlowEngineProvider.KIND, "parallel.pipeline=2",
                        "training.microbatch-size=4", "training.steps=1", "recovery.enabled=false",
                        "recovery.hang-timeout=" + 5 * SlowEngineProvider.KERNEL.toMillis() + "ms",
                        "transport.timeout=2s"));
        execution.requireDone();
    }

    @Test
    void shouldContinueFromTheCheckpointBeforeTheFailure() {
        Path whole = directory.resolve("whole");
        Execution.train(whole, faulty()).requireDone();
        FaultyEngineProvider.breakCall(1, "causalAttention", 4 * 8 + 1);
        Path run = directory.resolve("run");
        List<String> settings = faulty();
        settings.add("training.checkpoint-every=2");
        Execution failed = Execution.train(run, settings);
        failed.requireFailed("step 4", "It can resume from " + run.resolve("checkpoints").resolve("step-000004")
                + " with --resume");
        FaultyEngineProvider.breakNothing();
        Execution.resume(run).requireDone();
        assertEquals(RunFiles.results(whole), RunFiles.results(run));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(run));
    }

    /** The obstacle is a file in place of a directory. */
    @Test
    void shouldContinueWithoutACheckpointThatCannotBeWritten() throws IOException {
        List<String> settings = Golden.named(Golden.TIED).settings("engine.kind=reference", "parallel.pipeline=2");
        Path whole = directory.resolve("whole");
        Execution.train(whole, settings).requireDone();
        Path run = directory.resolve("run");
        settings.addAll(List.of("training.steps=1", "training.checkpoint-every=1"));
        Execution.train(run, settings).requireDone();
        Files.createFile(run.resolve("checkpoints").resolve("step-000002.partial"));
        int steps = Golden.named(Golden.TIED).steps();
        Execution resumed = Execution.resume(run, "-s", "training.steps=" + steps)
                .requireDone();
        String said = "the checkpoint after 2 steps could not be written, and the run continues without it: cannot write ";
        assertTrue(resumed.output().contains(said + run.resolve("checkpoints")), resumed.output());
        assertTrue(Files.readString(run.resolve("metrics.jsonl"))
                .contains("{\"steps_done\":2,\"checkpoint_failed\":\"cannot write "));
        assertEquals(RunFiles.results(whole), RunFiles.results(run));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(run));
    }

    @Test
    void shouldFailWhenTheCheckpointAtTheEndCannotBeWritten() throws IOException {
        Path run = directory.resolve("run");
        Execution.train(run, Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=1"))
                .requireDone();
        Files.createFile(run.resolve("checkpoints").resolve("step-000002.partial"));
        Execution resumed = Execution.resume(run, "-s", "training.steps=2");
        resumed.requireFailed("the checkpoint at its end, after 2 steps, could not be written",
                "It can resume from " + run.resolve("checkpoints").resolve("step-000001") + " with --resume");
    }

    @ParameterizedTest
    @CsvSource({"reference", "nd4j"})
    void shouldEndWithAdviceWhenTheLossIsNotANumber(String engine) {
        Execution execution = Execution.train(directory.resolve("run"),
                Golden.named(Golden.UNTIED).settings("engine.kind=" + engine, "parallel.pipeline=2",
                        "training.learning-rate.peak=1e30"));
        execution.requireFailed("troupe: the run failed: step ", "loss of ", "training.learning-rate.peak",
                "training.gradient-clip");
        assertTrue(Files.exists(directory.resolve("run").resolve("metrics.jsonl")));
        assertEquals(1, execution.errors().lines().count(), execution.errors());
    }

    private static List<String> faulty() {
        return Golden.named(Golden.TIED).settings("engine.kind=" + FaultyEngineProvider.KIND, "parallel.pipeline=2",
                "training.microbatch-size=2", "recovery.enabled=false");
    }
}
