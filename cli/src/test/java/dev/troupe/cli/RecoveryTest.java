package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.schedule.family.Schedules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A rank that fails inside a step starts again, and the run ends with the bits of a run without failures. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class RecoveryTest {
    @TempDir
    private Path directory;

    private int runs;

    @AfterEach
    void leaveNothing() throws InterruptedException {
        FaultyEngineProvider.breakNothing();
        Leftovers.requireNoThread();
    }

    /** Golden.TIED has 4 blocks; of two ranks each calls a kernel of a block twice a microbatch, 4 microbatches a step. */
    @ParameterizedTest
    @CsvSource({
            "gpipe, 0, causalAttention, 1", "gpipe, 1, adamW, 2", "1f1b, 1, causalAttention, 21",
            "1f1b, 0, squaredSum, 40",
            "interleaved-1f1b, 0, causalAttention, 11", "zb-h1, 1, causalAttentionBackward, 5",
            "zbv, 1, causalAttentionBackward, 15", "looped-bfs, 1, causalAttentionBackward, 13"})
    void shouldContinueInsideTheStep(String schedule, int rank, String kernel, int call) {
        assertRecovers(rank, kernel, call, "parallel.schedule=" + schedule,
                "parallel.virtual-stages=" + Schedules.named(schedule).usualVirtualStages());
    }

    /** The sums of the auxiliary loss are in the messages that are sent again. */
    @ParameterizedTest
    @CsvSource({"1f1b, 1, segmentMatmul, 25", "zb-h1, 0, routeBackward, 7", "gpipe, 1, segmentMatmulBackward, 9"})
    void shouldContinueInsideTheStepOfExperts(String schedule, int rank, String kernel, int call) {
        assertRecovers(Golden.named("mixtral-aux"), rank, kernel, call, "parallel.schedule=" + schedule,
                "training.recompute=full");
    }

    @Test
    void shouldContinueInsideTheStepOfSharedExperts() {
        assertRecovers(Golden.named("glm4moe"), 1, "segmentMatmulBackward", 9, "parallel.schedule=1f1b");
    }

    /** The other rank with a share of the experts waits for rows, in a forward and in a backward. */
    @ParameterizedTest
    @CsvSource({"1f1b, 3, gatherRows, 6, 0", "zb-h1, 1, combineRowsBackward, 3, 2", "gpipe, 2, combineRows, 2, 3",
            "1f1b, 0, segmentMatmul, 20, 1"})
    void shouldRestartAPlaceInsideAnExchangeOfRows(String schedule, int rank, String kernel, int call, int zero) {
        assertRecovers(Golden.named("mixtral-aux"), rank, kernel, call, "parallel.schedule=" + schedule,
                "parallel.data=2", "parallel.expert=2", "training.zero=" + zero, "training.recompute=full");
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({
            "gpipe, 1, causalAttentionBackward, 6", "1f1b, 0, causalAttentionBackward, 7",
            "dualpipev, 0, causalAttentionBackward, 9", "zb-h2, 0, causalAttentionBackward, 10",
            "interleaved-zero-bubble, 1, causalAttention, 18", "v-half, 0, causalAttentionBackward, 4",
            "v-min, 1, causalAttentionBackward, 20"})
    void shouldContinueInsideTheStepOfOtherSchedules(String schedule, int rank, String kernel, int call) {
        shouldContinueInsideTheStep(schedule, rank, kernel, call);
    }

    /** The ranks of a place start again together, since a collective that one of them left is whole for none. */
    @ParameterizedTest
    @CsvSource({"6, causalAttentionBackward, 3, 0", "5, adamW, 1, 0", "4, squaredSum, 3, 1",
            "6, causalAttention, 5, 3"})
    void shouldRestartAWholePlaceOfAGrid(int rank, String kernel, int call, int zero) {
        assertRecovers(rank, kernel, call, "parallel.tensor=2", "parallel.data=2", "training.zero=" + zero);
    }

    /** After the first step: a stage without its velocity would come to other weights. */
    @ParameterizedTest
    @CsvSource({"1f1b, 1, 0, causalAttentionBackward, 13", "gpipe, 1, 1, sgdMomentum, 4", "1f1b, 2, 1, squaredSum, 90"})
    void shouldRestoreTheVelocityOfMomentum(String schedule, int data, int rank, String kernel, int call) {
        assertRecoversWithMomentum(schedule, data, 0, rank, kernel, call);
    }

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"1, 3, sgdMomentum, 5", "2, 2, causalAttentionBackward, 9", "3, 0, causalAttentionBackward, 9",
            "3, 3, sgdMomentum, 6"})
    void shouldRestoreAShareOfTheVelocity(int zero, int rank, String kernel, int call) {
        assertRecoversWithMomentum("1f1b", 2, zero, rank, kernel, call);
    }

    private void assertRecoversWithMomentum(String schedule, int data, int zero, int rank, String kernel, int call) {
        assertRecovers(rank, kernel, call, "parallel.schedule=" + schedule, "parallel.data=" + data,
                "training.zero=" + zero, "training.optimizer.kind=sgd", "training.optimizer.momentum=0.9",
                "training.optimizer.nesterov=true");
    }

    @Test
    void shouldRecoverWhenHeldOutDataIsLookedAtAndCheckpointsAreWritten() {
        for (int call = 5; call < 40; call += 7) {
            assertRecovers(1, "causalAttention", call, "data.validation-fraction=0.3", "training.validate-every=1",
                    "training.checkpoint-every=1");
        }
    }

    @Test
    void shouldFailAfterTooManyRecoveriesOfOneStep() {
        FaultyEngineProvider.breakCallOfEvery(1, "crossEntropyBoth", 1, FaultyEngineProvider.LOOSE, "the fuse blew",
                "the fan stopped", "it rained in");
        Execution execution = Execution.train(directory.resolve("run"), settings("recovery.most-per-step=3"));
        execution.requireFailed("rank 1: stage 1 failed in 1F0 in step 0", "it rained in",
                "after 3 recoveries since step 0 began", "recovery.most-per-step");
    }

    /**
     * Another attempt computes the same from the same bits. The timeouts are longer than this test may last, and so is the
     * wait for a thread that does not end.
     */
    @Timeout(50)
    @ParameterizedTest
    @CsvSource({"crossEntropyBoth, 1, stage 1 in 1F0 in step 0", "causalAttentionBackward, 3, stage 1 in 1B1 in step 0",
            "adamW, 1, stage 1 in 1UPDATE in step 0"})
    void shouldEndAtOnceWhenAnErrorStrikesAgainAtTheSameAction(String kernel, int call, String where) {
        FaultyEngineProvider.breakCallOfEvery(1, kernel, call, FaultyEngineProvider.LOOSE);
        Execution execution = Execution.train(directory.resolve("run"),
                settings("transport.timeout=10m", "recovery.hang-timeout=10m"));
        assertEquals(2, FaultyEngineProvider.timesBroken());
        execution.requireFailed("troupe: the run failed: IllegalStateException: the wire came loose (rank 1, " + where
                + "; it was started again, and the same error struck there again, so the run ends)");
        assertEquals(1, execution.errors().lines().count(), execution.errors());
    }

    private void assertRecovers(int rank, String kernel, int call, String... more) {
        assertRecovers(Golden.named(Golden.TIED), rank, kernel, call, more);
    }

    private void assertRecovers(Golden golden, int rank, String kernel, int call, String... more) {
        runs++;
        Path whole = directory.resolve("whole-" + runs);
        Path run = directory.resolve("run-" + runs);
        Execution.train(whole, settings(golden, more)).requireDone();
        FaultyEngineProvider.breakCall(rank, kernel, call);
        Execution.train(run, settings(golden, more)).requireDone();
        assertTrue(FaultyEngineProvider.hasBroken(), "nothing failed");
        FaultyEngineProvider.breakNothing();
        assertEquals(RunFiles.results(whole), RunFiles.results(run));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(run));
    }

    private static List<String> settings(String... more) {
        return settings(Golden.named(Golden.TIED), more);
    }

    private static List<String> settings(Golden golden, String... more) {
        List<String> settings = new ArrayList<>(golden.settings(
                "engine.kind=" + FaultyEngineProvider.KIND, "parallel.pipeline=2", "training.microbatch-size=2"));
        settings.addAll(List.of(more));
        return settings;
    }
}
