package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointCommand;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointMachine;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A run of two ranks and its checkpoints: seven steps, a checkpoint due after each two, the ones after 2, 4 and 6 written
 * during training.
 */
@Tag("plan")
class RunCheckpointsTest {
    private final RunMachine run = newRun(settings());

    private static RunSettings settings() {
        return settings(true);
    }

    private static RunSettings settings(boolean endsWithCheckpoint) {
        return new RunSettings(2, 0, 7, _ -> 0.1, 0, LossScale.none(0), 0, 2, -1, endsWithCheckpoint,
                List.of(List.of(0), List.of(1)), 5);
    }

    private static RunMachine newRun(RunSettings settings) {
        RunMachine machine = OneNode.coordinator(settings);
        for (int rank = 0; rank < 2; rank++) {
            machine.on(new RunEvent.EpochReady(new Incarnation(rank, 0, 1), 0, -1, List.of()));
        }
        return machine;
    }

    @Test
    void shouldRequestACheckpointThatIsDueAndContinue() {
        assertEquals(List.of(RunCommand.CommitStep.class, RunCommand.StartPass.class), kinds(step(run, 0)));
        List<RunCommand> second = step(run, 1);
        assertEquals(
                List.of(RunCommand.CommitStep.class, RunCommand.NotifyCheckpoint.class, RunCommand.StartPass.class),
                kinds(second));
        assertEquals(wanted(2, CheckpointWay.DURING_TRAINING), second.get(1));
        assertFalse(run.waitsForCheckpoint());
    }

    @Test
    void shouldHoldUpOnlyTheCommitAtWhichTheNextIsDue() {
        step(run, 0);
        step(run, 1);
        run.on(pinned(2));
        step(run, 2);
        assertEquals(List.of(), step(run, 3));
        assertTrue(run.waitsForCheckpoint());
        assertEquals(3, run.stepsDone());
        assertEquals(wanted(4, CheckpointWay.DURING_TRAINING), settle(run, 2, true).get(1));
        assertEquals(4, run.stepsDone());
    }

    /** A rank keeps the states of two commits, and a third one if a node holds one of them. */
    @Test
    void shouldHoldUpTheUpdateThatOverwritesTheStateOfACheckpoint() {
        RunMachine seldom = newRun(new RunSettings(2, 0, 9, _ -> 0.1, 0, LossScale.none(0), 0, 4, -1, true,
                List.of(List.of(0), List.of(1)), 5));
        for (int step = 0; step < 5; step++) {
            step(seldom, step);
        }
        assertEquals(5, seldom.stepsDone(), "the update after the checkpoint's overwrites the state before it");
        assertFalse(seldom.waitsForCheckpoint());
        assertEquals(List.of(), measured(seldom, 5), "the next would overwrite the checkpoint's own");
        assertTrue(seldom.waitsForCheckpoint());
        assertEquals(List.of(), seldom.on(pinned(2)), "an earlier one's");
        assertEquals(List.of(RunCommand.Update.class), kinds(seldom.on(pinned(4))));
        assertFalse(seldom.waitsForCheckpoint());
    }

    @Test
    void shouldHoldUpNothingOnceTheCheckpointIsSettled() {
        RunMachine seldom = newRun(new RunSettings(2, 0, 9, _ -> 0.1, 0, LossScale.none(0), 0, 4, -1, true,
                List.of(List.of(0), List.of(1)), 5));
        for (int step = 0; step < 5; step++) {
            step(seldom, step);
        }
        measured(seldom, 5);
        assertEquals(List.of(RunCommand.Update.class), kinds(settle(seldom, 4, false)));
    }

    @Test
    void shouldTryTheNextIfOneFailed() {
        step(run, 0);
        step(run, 1);
        assertEquals(List.of(), settle(run, 2, false));
        step(run, 2);
        assertEquals(wanted(4, CheckpointWay.DURING_TRAINING), step(run, 3).get(1));
    }

    @Test
    void shouldNotRequestACheckpointThatIsComplete() {
        RunMachine resumed = newRun(settings().savedAt(2));
        step(resumed, 0);
        assertEquals(List.of(RunCommand.CommitStep.class, RunCommand.StartPass.class), kinds(step(resumed, 1)));
    }

    @Test
    void shouldWriteTheLastOnceTheOneInProgressIsSettled() {
        step(run, 0);
        step(run, 1);
        run.on(new RunEvent.StopRequested());
        assertEquals(List.of(RunCommand.CommitStep.class), kinds(step(run, 2)));
        assertTrue(run.waitsForCheckpoint());
        assertEquals(List.of(wanted(3, CheckpointWay.AWAITED)), settle(run, 2, true));
        assertFalse(run.waitsForCheckpoint());
    }

    @Test
    void shouldSettleTheOneInProgressAlsoIfTheRunIsToLeaveNone() {
        RunMachine leavesNone = newRun(settings(false));
        step(leavesNone, 0);
        step(leavesNone, 1);
        leavesNone.on(new RunEvent.StopRequested());
        assertEquals(List.of(RunCommand.CommitStep.class), kinds(step(leavesNone, 2)));
        assertTrue(leavesNone.waitsForCheckpoint());
        assertEquals(List.of(new RunCommand.Finish(3)), settle(leavesNone, 2, true));
    }

    @Test
    void shouldEndWithItsFailureOnceTheOneInProgressIsSettled() {
        step(run, 0);
        step(run, 1);
        assertEquals(List.of(),
                run.on(new RunEvent.PassDone(new Incarnation(0, 0, 1), training(2), List.of(), List.of())));
        assertEquals(List.of(), run.on(new RunEvent.PassDone(new Incarnation(1, 0, 1), training(2),
                List.of(new MicrobatchLoss(0, Double.NaN)), List.of())));
        assertTrue(run.waitsForCheckpoint());
        assertEquals(List.of(), run.on(new RunEvent.RankFailed(new Incarnation(0, 0, 1), "too late")));
        assertEquals(List.of(new RunCommand.NotifyCheckpoint(new CheckpointEvent.NodeGone("a", "gone"))),
                run.on(new RunEvent.NodeLost("a", "gone")));
        assertEquals(List.of(RunCommand.Fail.class), kinds(settle(run, 2, true)));
    }

    /** The possible next events, by name. */
    private enum Move {
        COMMIT, PART_0, PART_1, FAIL_0, FAIL_1, STANDS, REFUSED, DELETED, LOSE_A, OVERDUE
    }

    /**
     * Both machines, with at most one fault among its moves; every request is answered some time, and states that a
     * checkpoint needs are held at once.
     */
    private static final class World {
        private final RunMachine run = newRun(settings());
        private final CheckpointMachine machine = new CheckpointMachine(2);
        private final List<String> said = new ArrayList<>();
        private final List<CheckpointEvent> pending = new ArrayList<>();
        private long stepsTrained;
        private boolean hasFault;
        private CheckpointAttempt inProgress;

        List<Move> moves() {
            List<Move> moves = new ArrayList<>();
            if (stepsTrained < 6 && run.stepsDone() == stepsTrained) {
                moves.add(Move.COMMIT);
            }
            for (CheckpointEvent event : pending) {
                switch (event) {
                    case CheckpointEvent.PartWritten(var _, int rank, var _) -> {
                        moves.add(rank == 0 ? Move.PART_0 : Move.PART_1);
                        addFault(moves, rank == 0 ? Move.FAIL_0 : Move.FAIL_1);
                    }
                    case CheckpointEvent.Complete _ -> {
                        moves.add(Move.STANDS);
                        addFault(moves, Move.REFUSED);
                    }
                    case CheckpointEvent.Deleted _ -> moves.add(Move.DELETED);
                    case CheckpointEvent.Wanted _,CheckpointEvent.RanksRestarted _,CheckpointEvent.Withdrawn _,CheckpointEvent.PartFailed _,CheckpointEvent.Refused _,CheckpointEvent.NodeGone _,CheckpointEvent.Overdue _,CheckpointEvent.Moving _,CheckpointEvent.Pinned _ ->
                        throw new AssertionError(event + " is no answer");
                }
            }
            addFault(moves, Move.LOSE_A);
            if (run.waitsForCheckpoint()) {
                addFault(moves, Move.OVERDUE);
            }
            return moves;
        }

        private void addFault(List<Move> moves, Move fault) {
            if (!hasFault) {
                moves.add(fault);
            }
        }

        void make(Move move) {
            hasFault |= List.of(Move.FAIL_0, Move.FAIL_1, Move.REFUSED, Move.LOSE_A, Move.OVERDUE).contains(move);
            switch (move) {
                case COMMIT -> carryOut(measured(run, stepsTrained++));
                case PART_0 -> take(takePart(0));
                case PART_1 -> take(takePart(1));
                case FAIL_0 -> take(new CheckpointEvent.PartFailed(takePart(0).attempt(), 0, "full"));
                case FAIL_1 -> take(new CheckpointEvent.PartFailed(takePart(1).attempt(), 1, "full"));
                case STANDS -> take(takeAnswer(CheckpointEvent.Complete.class));
                case REFUSED -> take(
                        new CheckpointEvent.Refused(takeAnswer(CheckpointEvent.Complete.class).attempt(), "full"));
                case DELETED -> take(takeAnswer(CheckpointEvent.Deleted.class));
                case LOSE_A -> {
                    pending.removeIf(event -> event instanceof CheckpointEvent.PartWritten part && part.rank() == 0);
                    take(new CheckpointEvent.NodeGone("", "gone"));
                }
                case OVERDUE -> take(new CheckpointEvent.Overdue());
            }
        }

        private CheckpointEvent.PartWritten takePart(int rank) {
            CheckpointEvent.PartWritten part = pending.stream()
                    .filter(CheckpointEvent.PartWritten.class::isInstance).map(CheckpointEvent.PartWritten.class::cast)
                    .filter(written -> written.rank() == rank).findFirst().orElseThrow();
            pending.remove(part);
            return part;
        }

        private <T extends CheckpointEvent> T takeAnswer(Class<T> kind) {
            T answer = pending.stream().filter(kind::isInstance).map(kind::cast).findFirst().orElseThrow();
            pending.remove(answer);
            return answer;
        }

        private void carryOut(List<RunCommand> commands) {
            for (RunCommand command : commands) {
                if (command instanceof RunCommand.NotifyCheckpoint(CheckpointEvent event)) {
                    take(event);
                } else if (command instanceof RunCommand.Update) {
                    carryOut(updated(run, stepsTrained - 1));
                }
            }
        }

        private void take(CheckpointEvent event) {
            for (CheckpointCommand command : machine.on(event)) {
                switch (command) {
                    case CheckpointCommand.WriteFromSnapshots(var attempt, var hosts) -> {
                        assertEquals(null, inProgress, "two at a time");
                        assertEquals(run.stepsDone(), attempt.stepsDone());
                        inProgress = attempt;
                        for (int rank = 0; rank < hosts.size(); rank++) {
                            pending.add(new CheckpointEvent.PartWritten(attempt, rank, file(rank)));
                        }
                        take(new CheckpointEvent.Pinned(attempt, List.of(0, 1)));
                    }
                    case CheckpointCommand.HaveRanksWrite _ -> throw new AssertionError(command + " before the end");
                    case CheckpointCommand.CommitParts(var attempt, LossScale scale, var parts) -> {
                        assertEquals(inProgress, attempt);
                        assertEquals(attempt.stepsDone(), scale.updates());
                        assertEquals(List.of(file(0), file(1)), parts);
                        pending.add(new CheckpointEvent.Complete(attempt));
                    }
                    case CheckpointCommand.Delete(var attempt) -> {
                        assertEquals(inProgress, attempt);
                        pending.add(new CheckpointEvent.Deleted(attempt));
                    }
                    case CheckpointCommand.ReportWritten(long steps) -> said.add(steps + " is complete");
                    case CheckpointCommand.ReportFailed(long steps, var _) -> said.add(steps + " failed");
                    case CheckpointCommand.ReportPinned(var attempt) -> {
                        assertEquals(inProgress, attempt);
                        carryOut(run.on(new RunEvent.CheckpointPinned(attempt)));
                    }
                    case CheckpointCommand.ReportSettled(var attempt, boolean isWritten, var failure) -> {
                        inProgress = null;
                        carryOut(run.on(new RunEvent.CheckpointSettled(attempt, isWritten, failure)));
                    }
                }
            }
        }
    }

    /** Each is reported once, in order, and without a fault all are complete. */
    @Test
    void shouldReportEachThatIsDueOnceInEveryOrderOfEvents() {
        int runs = 0;
        List<List<Move>> open = new ArrayList<>(List.of(List.of()));
        while (!open.isEmpty()) {
            List<Move> made = open.removeLast();
            World world = new World();
            made.forEach(world::make);
            List<Move> moves = world.moves();
            // A node may be lost at any time; that alone does not keep a run alive.
            if (moves.isEmpty() || moves.equals(List.of(Move.LOSE_A))) {
                runs++;
                assertEquals(6, world.run.stepsDone(), () -> "stuck after " + made);
                assertEquals(null, world.inProgress, () -> "never ends: " + made);
                assertEquals(List.of("2", "4", "6"), world.said.stream().map(line -> line.substring(0, 1)).toList(),
                        made::toString);
                long failed = world.said.stream().filter(line -> line.endsWith("failed")).count();
                assertTrue(failed <= (world.hasFault ? 1 : 0), () -> world.said + " in " + made);
            }
            for (Move move : moves) {
                List<Move> next = new ArrayList<>(made);
                next.add(move);
                open.add(next);
            }
        }
        assertTrue(runs > 1000, runs + " runs");
    }

    private static RunEvent pinned(long stepsDone) {
        return new RunEvent.CheckpointPinned(new CheckpointAttempt(stepsDone, 0, CheckpointWay.DURING_TRAINING));
    }

    private static CheckpointPart file(int rank) {
        return new CheckpointPart("rank-00" + rank, 1, "00");
    }

    private static RunCommand wanted(long stepsDone, CheckpointWay way) {
        return new RunCommand.NotifyCheckpoint(new CheckpointEvent.Wanted(new CheckpointAttempt(stepsDone, 0, way),
                LossScale.none(stepsDone), List.of("", "")));
    }

    private static List<RunCommand> settle(RunMachine run, long stepsDone, boolean isComplete) {
        return run.on(new RunEvent.CheckpointSettled(new CheckpointAttempt(stepsDone, 0, CheckpointWay.DURING_TRAINING),
                isComplete,
                Optional.empty()));
    }

    private static List<Class<?>> kinds(List<RunCommand> commands) {
        return commands.stream().<Class<?>>map(Object::getClass).toList();
    }

    private static Pass training(long step) {
        return new Pass(step, Pass.Kind.TRAINING);
    }

    private static List<RunCommand> step(RunMachine run, long step) {
        measured(run, step);
        return updated(run, step);
    }

    private static List<RunCommand> measured(RunMachine run, long step) {
        run.on(new RunEvent.PassDone(new Incarnation(0, 0, 1), training(step), List.of(), List.of()));
        return run.on(new RunEvent.PassDone(new Incarnation(1, 0, 1), training(step),
                List.of(new MicrobatchLoss(0, 2)), List.of()));
    }

    private static List<RunCommand> updated(RunMachine run, long step) {
        run.on(new RunEvent.Updated(new Incarnation(0, 0, 1), step, Traffic.NONE));
        return run.on(new RunEvent.Updated(new Incarnation(1, 0, 1), step, Traffic.NONE));
    }
}
