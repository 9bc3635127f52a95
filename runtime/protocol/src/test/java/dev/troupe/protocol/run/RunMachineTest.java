package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Two ranks; the head, and so the losses, on rank 1; layer 0 on rank 0, layer 1 on rank 1. */
class RunMachineTest {
    static final List<Integer> ALL = List.of(0, 1);
    static final List<List<Integer>> PLACES = List.of(List.of(0), List.of(1));
    private static final CheckpointPart PART = new CheckpointPart("rank-000", 1, "00");
    private static final RunEvent STOP = new RunEvent.StopRequested();

    @Test
    void shouldLeadAStepFromItsStartToItsCommit() {
        RunMachine machine = machine(0, 2, 0, 0, -1);

        assertEquals(List.of(), machine.on(ready(1)));
        assertEquals(List.of(0), machine.missing());
        assertEquals(List.of(start(0)), machine.on(ready(0)));
        assertEquals(List.of(), trained(machine, 1, 0, 2));
        assertEquals(List.of(new RunCommand.Update(new WeightUpdate(0, 0.5, 1, 1, false), ALL)),
                trained(machine, 0, 0, 2));
        assertEquals(List.of(), machine.on(new RunEvent.Updated(from(0), 0, Traffic.NONE)));
        assertEquals(0, machine.stepsDone());
        assertEquals(
                List.of(new RunCommand.CommitStep(new StepResult(0, 2, 5, 0.5, 1, false, Traffic.NONE),
                        new Commit(1, LossScale.none(1))),
                        start(1)),
                machine.on(new RunEvent.Updated(from(1), 0, Traffic.NONE)));
        assertEquals(1, machine.stepsDone());
    }

    @Test
    void shouldAddLossesInTheOrderOfMicrobatchesWhicheverComesFirst() {
        List<MicrobatchLoss> losses = List.of(new MicrobatchLoss(0, 1e16), new MicrobatchLoss(1, 1),
                new MicrobatchLoss(2, -1e16), new MicrobatchLoss(3, 4));
        RunMachine machine = ready(0, 1, 0, 0, -1);
        machine.on(passDone(1, 0, losses.reversed(), 1));
        machine.on(passDone(0, 0, List.of(), 0));
        machine.on(new RunEvent.Updated(from(0), 0, Traffic.NONE));

        var commit = (RunCommand.CommitStep) machine.on(new RunEvent.Updated(from(1), 0, Traffic.NONE))
                .getFirst();
        assertEquals(((1e16 + 1) + -1e16 + 4) / 4, commit.results().getFirst().loss());
    }

    @Test
    void shouldClipByTheGlobalNorm() {
        RunSettings settings = new RunSettings(2, 0, 1, _ -> 0.5, 2, LossScale.none(0), 0, 0, -1, true, PLACES, 0);
        RunMachine machine = OneNode.coordinator(settings);
        machine.on(ready(0));
        machine.on(ready(1));
        trained(machine, 0, 0, 2);
        var update = (RunCommand.Update) trained(machine, 1, 0, 2).getFirst();
        assertEquals(2 / (5 + 1e-6), update.update().gradientScale(), 0, "as torch.nn.utils.clip_grad_norm_");
    }

    @Test
    void shouldFailInWordsIfALossOrANormIsNoNumber() {
        RunMachine machine = ready(0, 3, 0, 0, -1);
        trained(machine, 0, 0, 2);
        assertEquals(List.of(new RunCommand.Fail("step 0 has a loss of NaN and a gradient norm of 5.0, so"
                + " training cannot continue: lower training.learning-rate.peak, or set training.gradient-clip")),
                trained(machine, 1, 0, Double.NaN));

        RunMachine infinite = ready(0, 3, 0, 0, -1);
        infinite.on(passDone(0, 0, List.of(), 0, Double.POSITIVE_INFINITY));
        assertInstanceOf(RunCommand.Fail.class, trained(infinite, 1, 0, 2).getFirst());
    }

    @Test
    void shouldLookAtHeldOutDataThenWriteACheckpointThenContinue() {
        RunMachine machine = ready(0, 4, 2, 2, -1);
        assertEquals(start(1), step(machine, 0).getLast());
        Pass validation = new Pass(1, Pass.Kind.VALIDATION);
        assertEquals(new RunCommand.StartPass(validation, ALL), step(machine, 1).getLast());
        machine.on(new RunEvent.PassDone(from(0), validation, List.of(), List.of()));
        assertEquals(
                List.of(new RunCommand.ReportValidation(2, 3), wanted(2)),
                machine.on(new RunEvent.PassDone(from(1), validation,
                        List.of(new MicrobatchLoss(0, 2), new MicrobatchLoss(1, 4)), List.of())));
        assertEquals(
                List.of(new RunCommand.NotifyCheckpoint(new CheckpointEvent.PartWritten(attempt(2), 1, PART))),
                machine.on(new RunEvent.CheckpointPartWritten(from(1), PART)));
        assertEquals(List.of(start(2)), machine.on(settled(2)));
    }

    @Test
    void shouldContinueWithoutACheckpointThatCannotBeWrittenAndTryTheNext() {
        RunMachine machine = ready(0, 4, 0, 2, -1);
        step(machine, 0);
        step(machine, 1);
        assertEquals(List.of(new RunCommand.NotifyCheckpoint(new CheckpointEvent.PartFailed(attempt(2), 1, "no room"))),
                machine.on(new RunEvent.CheckpointPartFailed(from(1), "no room")));
        assertEquals(List.of(new RunCommand.ReportCheckpointFailed(2, "no room"), start(2)),
                machine.on(failed(2, "no room")));
        step(machine, 2);
        assertEquals(wanted(4), step(machine, 3).getLast());
        assertEquals(List.of(new RunCommand.Finish(4)), machine.on(settled(4)));
    }

    @Test
    void shouldFailIfTheCheckpointAtTheEndCannotBeWritten() {
        RunMachine machine = ready(0, 2, 0, 1, -1);
        step(machine, 0);
        machine.on(settled(1));
        step(machine, 1);
        assertEquals(List.of(new RunCommand.Fail(
                "the checkpoint at its end, after 2 steps, could not be written, and nothing"
                        + " else keeps what was learnt since the one before: no room")),
                machine.on(failed(2, "no room")));
    }

    @Test
    void shouldFailIfTheCheckpointOfAStopCannotBeWritten() {
        RunMachine machine = ready(0, 9, 0, 1, -1);
        step(machine, 0);
        machine.on(STOP);
        assertInstanceOf(RunCommand.Fail.class, machine.on(failed(1, "no room")).getLast());
    }

    @Test
    void shouldRefuseAPartOfNoCheckpoint() {
        RunMachine machine = ready(0, 9, 0, 1, -1);
        assertThrows(IllegalStateException.class,
                () -> machine.on(new RunEvent.CheckpointPartWritten(from(0), PART)));
    }

    @Test
    void shouldEndWithACheckpointAlsoIfNoneIsDue() {
        RunMachine machine = ready(0, 1, 0, 0, -1);
        assertEquals(wanted(1), step(machine, 0).getLast());
        assertEquals(new RunCommand.Finish(1), machine.on(settled(1)).getLast());
    }

    @Test
    void shouldWriteTheCheckpointOfTheLastStepOnce() {
        RunMachine machine = ready(0, 2, 0, 2, -1);
        step(machine, 0);
        assertEquals(wanted(2), step(machine, 1).getLast());
        assertEquals(new RunCommand.Finish(2), machine.on(settled(2)).getLast());
    }

    @Test
    void shouldNotWriteTheCheckpointAgainThatItResumedFrom() {
        RunMachine machine = machine(5, 5, 0, 0, 5);
        machine.on(ready(0));
        assertEquals(List.of(new RunCommand.Finish(5)), machine.on(ready(1)));
    }

    @Test
    void shouldWriteACheckpointInANewDirectoryEvenIfNoStepIsLeft() {
        RunMachine machine = machine(5, 5, 0, 0, -1);
        machine.on(ready(0));
        assertEquals(List.of(wanted(5)), machine.on(ready(1)));
    }

    @Test
    void shouldStopBeforeItsFirstStepWithACheckpoint() {
        RunMachine machine = machine(0, 9, 0, 0, -1);
        machine.on(ready(0));
        assertEquals(List.of(), machine.on(STOP));
        assertEquals(List.of(wanted(0)), machine.on(ready(1)));
        assertEquals(new RunCommand.Finish(0), machine.on(settled(0)).getLast());
    }

    @Test
    void shouldStopAfterTheStepInProgress() {
        RunMachine machine = ready(0, 9, 0, 0, -1);
        trained(machine, 0, 0, 2);
        assertEquals(List.of(), machine.on(STOP));
        assertEquals(List.of(), machine.on(STOP), "asking twice changes nothing");
        trained(machine, 1, 0, 2);
        machine.on(new RunEvent.Updated(from(0), 0, Traffic.NONE));
        assertEquals(wanted(1),
                machine.on(new RunEvent.Updated(from(1), 0, Traffic.NONE)).getLast());
    }

    @Test
    void shouldStopAfterTheHeldOutDataInProgress() {
        RunMachine machine = ready(0, 9, 1, 0, -1);
        step(machine, 0);
        machine.on(STOP);
        Pass validation = new Pass(0, Pass.Kind.VALIDATION);
        machine.on(new RunEvent.PassDone(from(0), validation, List.of(), List.of()));
        assertEquals(
                List.of(new RunCommand.ReportValidation(1, 2), wanted(1)),
                machine.on(
                        new RunEvent.PassDone(from(1), validation, List.of(new MicrobatchLoss(0, 2)),
                                List.of())));
    }

    @Test
    void shouldRefuseARankThatAnswersTwiceOrInAnotherPhase() {
        RunMachine machine = machine(0, 1, 0, 0, -1);
        machine.on(ready(0));
        assertEquals("rank 0 is ready in this epoch already",
                assertThrows(IllegalStateException.class, () -> machine.on(ready(0)))
                        .getMessage());
        assertEquals(
                "the coordinator cannot take Updated[from=Incarnation[rank=1, epoch=0, term=1], step=0, traffic="
                        + Traffic.NONE
                        + "] in phase STARTING of step 0",
                assertThrows(IllegalStateException.class,
                        () -> machine.on(new RunEvent.Updated(from(1), 0, Traffic.NONE)))
                        .getMessage());
    }

    @Test
    void shouldRefuseAnAnswerToAnotherStep() {
        RunMachine machine = ready(3, 9, 0, 0, -1);
        assertThrows(IllegalStateException.class, () -> trained(machine, 0, 2, 2));
        trained(machine, 0, 3, 2);
        trained(machine, 1, 3, 2);
        assertThrows(IllegalStateException.class,
                () -> machine.on(new RunEvent.Updated(from(0), 2, Traffic.NONE)));
    }

    @Test
    void shouldEndWithoutACheckpointIfNoneIsWanted() {
        RunMachine machine = OneNode.coordinator(
                new RunSettings(2, 0, 1, _ -> 0.5, 0, LossScale.none(0), 0, 0, -1, false, PLACES, 0));
        machine.on(ready(0));
        machine.on(ready(1));
        trained(machine, 0, 0, 2);
        trained(machine, 1, 0, 2);
        machine.on(new RunEvent.Updated(from(0), 0, Traffic.NONE));
        assertEquals(new RunCommand.Finish(1),
                machine.on(new RunEvent.Updated(from(1), 0, Traffic.NONE)).getLast());
    }

    static Incarnation from(int rank) {
        return new Incarnation(rank, 0, 1);
    }

    static RunEvent ready(int rank) {
        return new RunEvent.EpochReady(from(rank), 0, -1, List.of());
    }

    private static RunMachine machine(long firstStep, long stepCount, long validateEvery, long checkpointEvery,
            long savedStep) {
        return OneNode.coordinator(
                new RunSettings(2, firstStep, stepCount, _ -> 0.5, 0,
                        LossScale.none(firstStep), validateEvery, checkpointEvery, savedStep, true, PLACES, 0));
    }

    private static RunMachine ready(long firstStep, long stepCount, long validateEvery, long checkpointEvery,
            long savedStep) {
        RunMachine machine = machine(firstStep, stepCount, validateEvery, checkpointEvery, savedStep);
        machine.on(ready(0));
        machine.on(ready(1));
        return machine;
    }

    private static List<RunCommand> step(RunMachine machine, long step) {
        trained(machine, 0, step, 2);
        trained(machine, 1, step, 2);
        machine.on(new RunEvent.Updated(from(0), step, Traffic.NONE));
        return machine.on(new RunEvent.Updated(from(1), step, Traffic.NONE));
    }

    /** Squared sums 9 and 16, so a norm of 5; one microbatch with this loss. */
    private static List<RunCommand> trained(RunMachine machine, int rank, long step, double loss) {
        return machine
                .on(passDone(rank, step, rank == 1 ? List.of(new MicrobatchLoss(0, loss)) : List.of(), rank));
    }

    private static RunEvent passDone(int rank, long step, List<MicrobatchLoss> losses, int layer) {
        return passDone(rank, step, losses, layer, layer == 0 ? 9 : 16);
    }

    static RunEvent passDone(int rank, long step, List<MicrobatchLoss> losses, int layer, double squaredSum) {
        return new RunEvent.PassDone(from(rank), new Pass(step, Pass.Kind.TRAINING), losses,
                List.of(new LayerSquaredSum(layer, 0, squaredSum)));
    }

    private static CheckpointAttempt attempt(long stepsDone) {
        return new CheckpointAttempt(stepsDone, 0, CheckpointWay.AWAITED);
    }

    private static RunCommand wanted(long stepsDone) {
        return new RunCommand.NotifyCheckpoint(new CheckpointEvent.Wanted(attempt(stepsDone), LossScale.none(stepsDone),
                List.of("", "")));
    }

    private static RunEvent settled(long stepsDone) {
        return new RunEvent.CheckpointSettled(attempt(stepsDone), true, Optional.empty());
    }

    private static RunEvent failed(long stepsDone, String why) {
        return new RunEvent.CheckpointSettled(attempt(stepsDone), false, Optional.of(why));
    }

    private static RunCommand start(long step) {
        return new RunCommand.StartPass(new Pass(step, Pass.Kind.TRAINING), ALL);
    }
}
