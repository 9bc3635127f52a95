package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.MessageKind;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Strike;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The coordinator when ranks fail: two ranks, the second of which fails in every phase. */
class RunRecoveryTest {
    private static final Pass FIRST = new Pass(0, Pass.Kind.TRAINING);
    private static final Pass VALIDATION = new Pass(0, Pass.Kind.VALIDATION);
    private static final Incarnation SURVIVOR = new Incarnation(0, 0, 1);
    private static final Incarnation FAILED = new Incarnation(1, 0, 1);
    private static final Incarnation AGAIN = new Incarnation(1, 1, 1);
    private static final RunCommand CAUGHT_UP = new RunCommand.ReportCaughtUp();

    private final RunMachine machine = OneNode.coordinator(new RunSettings(2, 0, 2, _ -> 0.5, 0,
            LossScale.none(0), 1, 1, -1, true, List.of(List.of(0), List.of(1)), 2));

    RunRecoveryTest() {
        machine.on(ready(SURVIVOR, 0, -1));
        machine.on(ready(FAILED, 0, -1));
    }

    @Test
    void shouldHaveARankRepeatItsPassAndInformSendersOfReceivedMessages() {
        MessageKey key = new MessageKey(new Edge(1, 0, 0, MessageKind.GRADIENT), 0);
        passDone(FAILED, FIRST);
        assertEquals(List.of(enters(1, 0)), fails(FAILED));
        assertEquals(List.of(), passDone(SURVIVOR, FIRST));
        assertEquals(List.of(), machine.on(new RunEvent.EpochReady(SURVIVOR, 1, FIRST.number(),
                List.of(key))));
        assertEquals(List.of(new RunCommand.StartPass(FIRST, List.of(1)),
                new RunCommand.Resume(1, FIRST.number(), Map.of(1, MessageKeys.of(List.of(key))))),
                machine.on(ready(AGAIN, 1, -1)));
        assertEquals(CAUGHT_UP, passDone(AGAIN, FIRST).getFirst());
    }

    @Test
    void shouldUpdateARankThatFailedWhileOthersUpdated() {
        trained();
        updated(FAILED, 3);
        assertEquals(List.of(enters(1, 0)), fails(FAILED));
        machine.on(ready(SURVIVOR, 1, FIRST.number()));
        machine.on(ready(AGAIN, 1, -1));
        assertEquals(List.of(), updated(SURVIVOR, 2));
        WeightUpdate update = new WeightUpdate(0, 0.5, 1, 1, false);
        assertEquals(List.of(CAUGHT_UP, new RunCommand.Update(update, List.of(1))), passDone(AGAIN, FIRST));
        StepResult result = new StepResult(0, 2, 5, 0.5, 1, false, new Traffic(5, 0, 0, 0));
        assertEquals(new RunCommand.CommitStep(result, new Commit(1, LossScale.none(1))),
                updated(AGAIN, 3).getFirst(), "counted once");
    }

    @Test
    void shouldUpdateARankThatFailsAgainWhileItRepeats() {
        trained();
        updated(SURVIVOR, 2);
        fails(FAILED);
        machine.on(ready(SURVIVOR, 1, FIRST.number()));
        machine.on(ready(AGAIN, 1, -1));
        assertEquals(List.of(enters(2, 0)), fails(AGAIN));
        machine.on(ready(SURVIVOR, 2, FIRST.number()));
        Incarnation third = new Incarnation(1, 2, 1);
        assertEquals(new RunCommand.StartPass(FIRST, List.of(1)), machine.on(ready(third, 2, -1)).getFirst());
        passDone(third, FIRST);
        updated(third, 3);
        assertEquals(1, machine.stepsDone());
    }

    @Test
    void shouldRepeatHeldOutDataWithTheWeightsOfTheCommit() {
        committed();
        passDone(FAILED, VALIDATION);
        assertEquals(List.of(enters(1, 1)), fails(FAILED));
        machine.on(ready(SURVIVOR, 1, VALIDATION.number()));
        assertEquals(new RunCommand.StartPass(VALIDATION, List.of(1)),
                machine.on(ready(AGAIN, 1, -1)).getFirst());
    }

    @Test
    void shouldDelayTheEndUntilARestartedRankIsReady() {
        machine.on(new RunEvent.StopRequested());
        committed();
        passDone(FAILED, VALIDATION);
        CheckpointAttempt last = new CheckpointAttempt(1, 0, CheckpointWay.AWAITED);
        assertEquals(new RunCommand.NotifyCheckpoint(new CheckpointEvent.Wanted(last, LossScale.none(1),
                List.of("", ""))), passDone(SURVIVOR, VALIDATION).getLast());
        machine.on(new RunEvent.CheckpointPartWritten(FAILED, new CheckpointPart("rank-001", 1, "00")));
        assertEquals(List.of(enters(1, 1)), fails(FAILED));
        machine.on(ready(SURVIVOR, 1, VALIDATION.number()));
        assertEquals(List.of(), machine.on(new RunEvent.CheckpointSettled(last, true, Optional.empty())));
        assertEquals(List.of(new RunCommand.Resume(1, -1, Map.of()), CAUGHT_UP, new RunCommand.Finish(1)),
                machine.on(ready(AGAIN, 1, -1)), "nothing of a pass that is over is sent again");
    }

    @Test
    void shouldInformTheCheckpointOfRestartedRanksOnceAllAreReady() {
        machine.on(new RunEvent.StopRequested());
        committed();
        passDone(FAILED, VALIDATION);
        passDone(SURVIVOR, VALIDATION);
        fails(FAILED);
        machine.on(ready(SURVIVOR, 1, VALIDATION.number()));
        assertEquals(List.of(new RunCommand.Resume(1, -1, Map.of()), CAUGHT_UP,
                new RunCommand.NotifyCheckpoint(new CheckpointEvent.RanksRestarted(List.of(1)))),
                machine.on(ready(AGAIN, 1, -1)));
    }

    @Test
    void shouldDelayTheNextPassUntilAllAreReadyAfterALostMessage() {
        trained();
        machine.on(new RunEvent.MessageLost(0, "it was lost"));
        machine.on(ready(SURVIVOR, 1, FIRST.number()));
        updated(SURVIVOR, 2);
        assertEquals(List.of(), updated(FAILED, 3));
        assertEquals(0, machine.stepsDone());
        machine.on(ready(FAILED, 1, FIRST.number()));
        assertEquals(1, machine.stepsDone());
    }

    @Test
    void shouldIgnoreAMessageThatWasLostInAnEarlierEpoch() {
        machine.on(new RunEvent.MessageLost(0, "it was lost"));
        assertEquals(List.of(), machine.on(new RunEvent.MessageLost(0, "so was this")));
        assertEquals(1, machine.epoch());
    }

    @Test
    void shouldRestartAllRanksIfTheLostMessageWasAReport() {
        passDone(SURVIVOR, FIRST);
        assertEquals(List.of(), restarted(machine.on(new RunEvent.MessageLost(0, "nothing moves"))));
        machine.on(ready(SURVIVOR, 1, FIRST.number()));
        machine.on(ready(FAILED, 1, FIRST.number()));
        assertEquals(List.of(0, 1), restarted(machine.on(new RunEvent.MessageLost(1, "nothing moves"))));
    }

    private static List<Integer> restarted(List<RunCommand> commands) {
        return ((RunCommand.EnterEpoch) commands.getFirst()).restarted();
    }

    @Test
    void shouldIgnoreAnIncarnationThatWasGivenUp() {
        fails(FAILED);
        assertEquals(List.of(), fails(FAILED));
        assertEquals(List.of(), passDone(FAILED, FIRST));
        assertEquals(List.of(), machine.on(ready(FAILED, 1, FIRST.number())));
        assertEquals(List.of(0, 1), machine.missing());
    }

    @Test
    void shouldBeCaughtUpOnlyWhenNoOtherRecoveryIsInProgress() {
        fails(FAILED);
        machine.on(ready(SURVIVOR, 1, FIRST.number()));
        machine.on(ready(AGAIN, 1, -1));
        machine.on(new RunEvent.MessageLost(1, "it was lost"));
        assertEquals(List.of(), passDone(AGAIN, FIRST));
        machine.on(ready(AGAIN, 2, FIRST.number()));
        assertEquals(CAUGHT_UP, machine.on(ready(SURVIVOR, 2, FIRST.number())).getLast());
    }

    @Test
    void shouldGiveUpAStepThatFailsTooOften() {
        fails(FAILED);
        fails(AGAIN);
        assertEquals(List.of(new RunCommand.Fail("it failed (after 2 recoveries since step 0 began;"
                + " recovery.most-per-step is the limit)")), fails(new Incarnation(1, 2, 1)));
    }

    @Test
    void shouldEndIfAnErrorStrikesAgainAtTheSameAction() {
        assertEquals(List.of(enters(1, 0)), strikes(FAILED, "1F0 in step 0", "Error: no room for 81 bytes at 0x7f3a"));
        assertEquals(List.of(new RunCommand.Fail("Error: no room for 82 bytes at 0x11 (rank 1, 1F0 in step 0;"
                + " it was started again, and the same error struck there again, so the run ends)")),
                strikes(AGAIN, "1F0 in step 0", "Error: no room for 82 bytes at 0x11"));
    }

    @Test
    void shouldContinueIfAnotherErrorStrikesOrAtAnotherAction() {
        strikes(FAILED, "1F0 in step 0", "Error: no room");
        assertEquals(List.of(enters(2, 0)), strikes(AGAIN, "1F0 in step 0", "Error: the wire came loose"));
        assertEquals("it failed (after 2 recoveries since step 0 began; recovery.most-per-step is the limit)",
                failure(strikes(new Incarnation(1, 2, 1), "1F1 in step 0", "Error: no room")));
    }

    @Test
    void shouldForgetTheErrorsOfAStepThatIsCommitted() {
        strikes(FAILED, "loading its weights", "Error: no room");
        machine.on(ready(SURVIVOR, 1, -1));
        machine.on(ready(AGAIN, 1, -1));
        passDone(AGAIN, FIRST);
        passDone(SURVIVOR, FIRST);
        updated(AGAIN, 3);
        updated(SURVIVOR, 2);
        assertEquals(List.of(enters(2, 1)), strikes(AGAIN, "loading its weights", "Error: no room"));
    }

    /** A fault on purpose, a hang or a lost process is no error that must come again. */
    @Test
    void shouldContinueIfAFailureHasTheSameTextWithoutAnErrorOfItsOwn() {
        fails(FAILED);
        assertEquals(List.of(enters(2, 0)), fails(AGAIN));
    }

    private static String failure(List<RunCommand> commands) {
        return ((RunCommand.Fail) commands.getFirst()).reason();
    }

    private List<RunCommand> strikes(Incarnation rank, String where, String cause) {
        return machine.on(
                new RunEvent.RankFailed(rank, "it failed", Optional.of(new Strike(where, cause))));
    }

    private void trained() {
        passDone(FAILED, FIRST);
        passDone(SURVIVOR, FIRST);
    }

    private void committed() {
        trained();
        updated(FAILED, 3);
        updated(SURVIVOR, 2);
    }

    private List<RunCommand> fails(Incarnation rank) {
        return machine.on(new RunEvent.RankFailed(rank, "it failed"));
    }

    private List<RunCommand> passDone(Incarnation from, Pass pass) {
        int rank = from.rank();
        return machine.on(new RunEvent.PassDone(from, pass,
                rank == 1 ? List.of(new MicrobatchLoss(0, 2)) : List.of(),
                List.of(new LayerSquaredSum(rank, 0, rank == 0 ? 9 : 16))));
    }

    private List<RunCommand> updated(Incarnation from, int bytes) {
        return machine.on(new RunEvent.Updated(from, 0, new Traffic(bytes, 0, 0, 0)));
    }

    private static RunEvent ready(Incarnation from, int epoch, long pass) {
        return new RunEvent.EpochReady(from, epoch, pass, List.of());
    }

    private static RunCommand enters(int epoch, long stepsDone) {
        return new RunCommand.EnterEpoch(epoch, List.of(1), stepsDone, "it failed",
                List.of("", ""), Map.of());
    }

}
