package dev.troupe.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class FaultChecksTest {
    /** Two ranks with the stages 0, 2 and 1, 3, and four microbatches a step. */
    private final TrainingPlan plan = TrainingPlan.of(new Gpt2(4, 8, 2, 4, 16, true, Gpt2.NORM_EPSILON).spec(),
            new StageSettings(1, 4, 4, new Optimizer.Sgd(0)), "uniform", Schedules.named("interleaved-1f1b"),
            new ParallelLayout(2, 1, 1), false, Zero.NONE, 2, 1, 2);

    @ParameterizedTest
    @ValueSource(strings = {"exception stage=3 rank=1 step=9 microbatch=3 at=B", "drop", "freeze",
            "drop stage=3 message=gradient", "drop stage=1 message=activation microbatch=3", "disk-full step=3",
            "hang step=9 at=checkpoint", "exception stage=0 at=receive message=gradient", "lose-snapshot",
            "clock-jump", "collect-garbage", "late-data", "late-data stage=3 microbatch=1", "late-data rank=0",
            "late-credit stage=1 message=activation"})
    void shouldLetThroughWhatCanStrike(String fault) {
        require(false, fault);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', value = {
            "exception stage=4 ! is for stage 4, but the run has 4, numbered from 0",
            "exception rank=2 ! is for rank 2, but the run has 2, numbered from 0",
            "exception microbatch=4 ! is for microbatch 4, but the run has 4, numbered from 0",
            "exception step=10 ! is for step 10, but the run has the steps 0 to 9",
            "exception rank=0 stage=1 ! is for stage 1 on rank 0, which has the stages [0, 2]",
            "exception at=W ! is for W, but there the plan has only F, B, send, receive, and sends activation, gradient",
            "exception stage=0 at=I ! is for I, but there the plan has only F, B, send, receive, and sends activation",
            "drop stage=0 message=gradient ! is for send of a message=gradient, but there the plan has only",
            "drop stage=1 message=tied-gradient ! is for send of a message=tied-gradient, but there the plan has only",
            "hang stage=0 at=receive message=activation ! is for receive of a message=activation, but there the plan",
            "disk-full step=4 ! is for the checkpoint of the steps up to 4, but those written hold the steps up to 3, 7 and so on, and up to 9 (training.checkpoint-every = 4)",
            "hang step=0 at=checkpoint ! is for the checkpoint of the steps up to 0, but those written",
            "late-data stage=2 ! is for the rows of a microbatch, which the stages 0 and 3 read, by the first rank of each tensor group",
            "late-credit stage=0 message=activation ! is for receive of a message=activation, but there the plan has only",
            "kill ! strikes a process of a cluster, but this run has one process alone"})
    void shouldExplainWhyAFaultCannotStrike(String fault, String why) {
        String sentence = assertThrows(UsageException.class, () -> require(false, fault)).getMessage();
        assertTrue(sentence.startsWith("the fault \"" + fault.strip() + "\" " + why), sentence);
    }

    @Test
    void shouldLetProcessesOfAClusterDie() {
        require(true, "kill", "cut-both");
    }

    @Test
    void shouldRefuseFaultsOfRecoveryOrCheckpointsThatTheRunLacks() {
        FaultChecks checks = new FaultChecks(plan, 0, 10, 0, false, false);
        for (String fault : List.of("lose-snapshot", "exception at=commit")) {
            assertEquals(
                    "the fault \"" + fault + "\" is for the keeping of snapshots, but this run keeps none"
                            + " (recovery.enabled = false)",
                    assertThrows(UsageException.class, () -> checks.require(List.of(fault(fault)))).getMessage());
        }
        checks.require(List.of(fault("disk-full step=9")));
        assertEquals(
                "the fault \"disk-full step=3\" is for the checkpoint of the steps up to 3, but the only one is written"
                        + " at the end, up to 9 (training.checkpoint-every = 0)",
                assertThrows(UsageException.class, () -> checks.require(List.of(fault("disk-full step=3"))))
                        .getMessage());
    }

    @Test
    void shouldLetARunContinueWithAPastFault() {
        new FaultChecks(plan, 5, 10, 0, true, false).require(List.of(fault("disk-full step=4")));
        assertThrows(UsageException.class,
                () -> new FaultChecks(plan, 4, 10, 0, true, false).require(List.of(fault("disk-full step=4"))));
    }

    @Test
    void shouldRefuseAMessageIfThereIsOneRank() {
        TrainingPlan alone = TrainingPlan.of(
                new Gpt2(4, 8, 2, 4, 16, true, Gpt2.NORM_EPSILON).spec(),
                new StageSettings(1, 4, 4, new Optimizer.Sgd(0)), "uniform", Schedules.named("gpipe"),
                new ParallelLayout(1, 1, 1), false, Zero.NONE, 1, 1, 2);
        for (String fault : List.of("drop", "exception at=send")) {
            assertEquals("the fault \"" + fault + "\" is for send, but there the plan has only F, B",
                    assertThrows(UsageException.class,
                            () -> new FaultChecks(alone, 0, 10, 0, true, false).require(List.of(fault(fault))))
                            .getMessage());
        }
    }

    @Test
    void shouldNameEveryFaultThatCannotStrike() {
        assertEquals(2, assertThrows(UsageException.class, () -> require(false, "kill", "drop", "drop stage=9"))
                .getMessage().lines().count());
    }

    private void require(boolean hasNodes, String... faults) {
        new FaultChecks(plan, 0, 10, 4, true, hasNodes).require(Stream.of(faults).map(FaultChecksTest::fault).toList());
    }

    private static FaultSpec fault(String text) {
        return FaultSpec.parse(text, "", "");
    }
}
