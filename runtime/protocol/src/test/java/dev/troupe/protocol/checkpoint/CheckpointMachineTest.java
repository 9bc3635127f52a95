package dev.troupe.protocol.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.LossScale;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two ranks on two nodes. */
@Tag("plan")
class CheckpointMachineTest {
    private static final List<String> HOSTS = List.of("a", "b");
    private static final String OVERDUE = "it made no progress for as long as the run may wait for it"
            + " (recovery.hang-timeout, and half of transport.timeout at most)";

    private static final List<CheckpointCommand> PINNED = List
            .of(new CheckpointCommand.ReportPinned(duringTraining(2)));

    private final CheckpointMachine machine = new CheckpointMachine(2);

    @Test
    void shouldCommitWhenAllPartsAreThere() {
        assertEquals(List.of(new CheckpointCommand.WriteFromSnapshots(duringTraining(2), HOSTS)),
                want(duringTraining(2)));
        assertEquals(List.of(), part(duringTraining(2), 1));
        assertEquals(
                List.of(new CheckpointCommand.CommitParts(duringTraining(2), LossScale.none(2),
                        List.of(file(0), file(1)))),
                part(duringTraining(2), 0));
        assertEquals(List.of(new CheckpointCommand.ReportWritten(2), written(duringTraining(2))),
                on(new CheckpointEvent.Complete(duringTraining(2))));
    }

    @Test
    void shouldNotBeginTwoAtATime() {
        want(duringTraining(2));
        assertThrows(IllegalStateException.class, () -> want(duringTraining(4)));
    }

    @Test
    void shouldIgnoreAnEarlierAttempt() {
        want(duringTraining(2));
        on(new CheckpointEvent.NodeGone("a", "gone"));
        part(duringTraining(2), 1);
        on(new CheckpointEvent.Deleted(duringTraining(2)));
        CheckpointAttempt again = new CheckpointAttempt(2, 1, CheckpointWay.DURING_TRAINING);
        assertEquals(List.of(new CheckpointCommand.WriteFromSnapshots(again, HOSTS)), want(again));
        assertEquals(List.of(), part(duringTraining(2), 0), "of the attempt that was given up");
        assertEquals(List.of(), part(again, 0));
        assertFalse(machine.isOfThis(new CheckpointEvent.Moving(duringTraining(2))));
        assertTrue(machine.isOfThis(new CheckpointEvent.Moving(again)));
    }

    @Test
    void shouldWaitForAllBeforeItDeletesTheFilesOfAFailedCheckpoint() {
        want(duringTraining(2));
        assertEquals(List.of(), on(new CheckpointEvent.PartFailed(duringTraining(2), 1, "no room")));
        assertEquals(failed("no room"), part(duringTraining(2), 0));
        assertEquals(List.of(settled(duringTraining(2))), on(new CheckpointEvent.Deleted(duringTraining(2))),
                "until it is deleted");
    }

    @Test
    void shouldDoWithoutOneThatCannotBeCommitted() {
        want(duringTraining(2));
        part(duringTraining(2), 0);
        part(duringTraining(2), 1);
        assertEquals(failed("no rename"), on(new CheckpointEvent.Refused(duringTraining(2), "no rename")));
    }

    @Test
    void shouldContinueWithThePartsThatALostNodeHasWritten() {
        want(duringTraining(2));
        part(duringTraining(2), 0);
        assertEquals(List.of(), on(new CheckpointEvent.NodeGone("a", "gone")));
        assertEquals(CheckpointCommand.CommitParts.class, part(duringTraining(2), 1).getFirst().getClass());
        assertEquals(List.of(), on(new CheckpointEvent.NodeGone("b", "gone")));
    }

    @Test
    void shouldGiveUpACheckpointForWhichTheRunHasWaitedTooLong() {
        want(duringTraining(2));
        assertEquals(failed(OVERDUE), on(new CheckpointEvent.Overdue()));
        assertEquals(List.of(), part(duringTraining(2), 0), "too late");
        assertEquals(List.of(settled(duringTraining(2))), on(new CheckpointEvent.Overdue()),
                "where not even deleting ends");
        want(duringTraining(4));
        part(duringTraining(4), 0);
        part(duringTraining(4), 1);
        assertEquals(List.of(new CheckpointCommand.ReportFailed(4, OVERDUE), settled(duringTraining(4))),
                on(new CheckpointEvent.Overdue()));
        assertEquals(List.of(), on(new CheckpointEvent.Complete(duringTraining(4))), "too late");
    }

    @Test
    void shouldHaveRanksWriteIfTheRunWaits() {
        assertEquals(List.of(new CheckpointCommand.HaveRanksWrite(awaited(2), List.of(0, 1))), want(awaited(2)));
        assertEquals(List.of(), on(new CheckpointEvent.NodeGone("a", "gone")), "its ranks start elsewhere");
        part(awaited(2), 0);
        assertEquals(List.of(new CheckpointCommand.HaveRanksWrite(awaited(2), List.of(1))),
                on(new CheckpointEvent.RanksRestarted(List.of(0, 1))), "a part stays written");
        assertEquals(CheckpointCommand.CommitParts.class, part(awaited(2), 1).getFirst().getClass());
        assertEquals(List.of(), on(new CheckpointEvent.RanksRestarted(List.of(0, 1))));
    }

    @Test
    void shouldReportTheFailureToTheRunThatWaits() {
        want(awaited(2));
        on(new CheckpointEvent.PartFailed(awaited(2), 1, "no room"));
        assertEquals(List.of(new CheckpointCommand.Delete(awaited(2))),
                on(new CheckpointEvent.PartFailed(awaited(2), 0, "no bytes")));
        assertEquals(List.of(failedAwaited("no bytes")), on(new CheckpointEvent.Deleted(awaited(2))),
                "the words of the first rank, whoever answers first");
    }

    @Test
    void shouldNotBeginIfThereIsNoRoom() {
        want(awaited(2));
        assertEquals(List.of(new CheckpointCommand.Delete(awaited(2))),
                on(new CheckpointEvent.Refused(awaited(2), "no room")));
        assertEquals(List.of(failedAwaited("no room")), on(new CheckpointEvent.Deleted(awaited(2))));
        want(awaited(4));
        part(awaited(4), 0);
        assertEquals(List.of(), on(new CheckpointEvent.Refused(awaited(4), "no room")), "a rank still writes");
    }

    @Test
    void shouldDeleteAWithdrawnCheckpointWithoutAFailure() {
        want(awaited(2));
        part(awaited(2), 0);
        assertEquals(List.of(new CheckpointCommand.Delete(awaited(2))), on(new CheckpointEvent.Withdrawn()));
        assertEquals(List.of(settled(awaited(2))), on(new CheckpointEvent.Deleted(awaited(2))));
        want(awaited(4));
        part(awaited(4), 0);
        part(awaited(4), 1);
        assertEquals(List.of(), on(new CheckpointEvent.Withdrawn()), "it may come to stand at any time");
        assertEquals(List.of(new CheckpointCommand.ReportWritten(4), written(awaited(4))),
                on(new CheckpointEvent.Complete(awaited(4))));
    }

    private static CheckpointAttempt duringTraining(long stepsDone) {
        return new CheckpointAttempt(stepsDone, 0, CheckpointWay.DURING_TRAINING);
    }

    private static CheckpointAttempt awaited(long stepsDone) {
        return new CheckpointAttempt(stepsDone, 0, CheckpointWay.AWAITED);
    }

    private static CheckpointPart file(int rank) {
        return new CheckpointPart("rank-00" + rank, 1, "00");
    }

    private static List<CheckpointCommand> failed(String why) {
        return List.of(new CheckpointCommand.ReportFailed(2, why), new CheckpointCommand.Delete(duringTraining(2)));
    }

    private static CheckpointCommand written(CheckpointAttempt attempt) {
        return new CheckpointCommand.ReportSettled(attempt, true, Optional.empty());
    }

    private static CheckpointCommand settled(CheckpointAttempt attempt) {
        return new CheckpointCommand.ReportSettled(attempt, false, Optional.empty());
    }

    private static CheckpointCommand failedAwaited(String why) {
        return new CheckpointCommand.ReportSettled(awaited(2), false, Optional.of(why));
    }

    @Test
    void shouldReportOnceThatAllNeededStatesAreHeld() {
        want(duringTraining(2));
        assertEquals(List.of(), machine.on(new CheckpointEvent.Pinned(duringTraining(2), List.of(1))));
        assertEquals(List.of(), machine.on(new CheckpointEvent.Pinned(duringTraining(1), List.of(0))),
                "an earlier attempt's");
        assertEquals(PINNED, machine.on(new CheckpointEvent.Pinned(duringTraining(2), List.of(0))));
        assertEquals(List.of(), machine.on(new CheckpointEvent.Pinned(duringTraining(2), List.of(0))));
        assertEquals(failed(OVERDUE), machine.on(new CheckpointEvent.Overdue()));
    }

    /** A part that is settled, and a checkpoint that is given up, need no state any more. */
    @Test
    void shouldNeedNothingOfAPartThatIsSettled() {
        want(duringTraining(2));
        assertEquals(List.of(), machine.on(new CheckpointEvent.PartWritten(duringTraining(2), 0, file(0))));
        assertEquals(PINNED, machine.on(new CheckpointEvent.Pinned(duringTraining(2), List.of(1))));
        part(duringTraining(2), 1);
        on(new CheckpointEvent.Complete(duringTraining(2)));
        want(duringTraining(4));
        assertEquals(new CheckpointCommand.ReportPinned(duringTraining(4)),
                machine.on(new CheckpointEvent.Overdue()).getFirst());
    }

    /** Returns all commands but the reports of held states. */
    private List<CheckpointCommand> on(CheckpointEvent event) {
        return machine.on(event).stream().filter(command -> !(command instanceof CheckpointCommand.ReportPinned))
                .toList();
    }

    private List<CheckpointCommand> want(CheckpointAttempt attempt) {
        return on(new CheckpointEvent.Wanted(attempt, LossScale.none(attempt.stepsDone()), HOSTS));
    }

    private List<CheckpointCommand> part(CheckpointAttempt attempt, int rank) {
        return on(new CheckpointEvent.PartWritten(attempt, rank, file(rank)));
    }
}
