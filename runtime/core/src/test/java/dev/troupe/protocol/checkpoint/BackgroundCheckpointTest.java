package dev.troupe.protocol.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Two ranks on two nodes, seven steps, a checkpoint due after each two: those after 2, 4 and 6 are written beside
 * training.
 */
@Tag("plan")
class BackgroundCheckpointTest {
    private static final List<String> HOSTS = List.of("a", "b");
    private static final String OVERDUE = "nothing of it moved any more while the run waited for it, for as long as it may"
            + " (recovery.hang-timeout, and half of transport.timeout at most)";

    private final BackgroundCheckpoint machine = new BackgroundCheckpoint(settings());

    private static RunSettings settings() {
        return new RunSettings(2, 0, 7, _ -> 0.1, 0, LossScale.none(0), 0, 2, -1, true, List.of(List.of(0), List.of(1)),
                5);
    }

    @Test
    void shouldWriteWhatIsDueAndCommitItWhenAllPartsAreThere() {
        assertEquals(List.of(), commit(1));
        assertEquals(List.of(new CheckpointCommand.WriteParts(at(2), HOSTS)), commit(2));
        assertEquals(List.of(), part(2, 1));
        assertTrue(machine.isUnderWay());
        assertEquals(List.of(new CheckpointCommand.CommitParts(at(2), LossScale.none(2), List.of(file(0), file(1)))),
                part(2, 0));
        assertEquals(List.of(new CheckpointCommand.ReportStands(2)), machine.on(new CheckpointEvent.Stands(at(2))));
        assertFalse(machine.isUnderWay());
    }

    @Test
    void shouldLeaveTheLastToTheRanks() {
        assertEquals(List.of(), new BackgroundCheckpoint(new RunSettings(2, 0, 2, _ -> 0.1, 0, LossScale.none(0), 0, 2,
                -1, true, List.of(List.of(0), List.of(1)), 5))
                .on(new CheckpointEvent.Committed(new Commit(2, LossScale.none(2)), 0, HOSTS)));
        machine.on(new CheckpointEvent.Ending());
        assertEquals(List.of(), commit(2));
    }

    @Test
    void shouldHoldUpOnlyTheCommitAtWhichTheNextIsDue() {
        assertFalse(machine.holdsUp(2));
        commit(2);
        assertFalse(machine.holdsUp(2), "the same again, where the run went back");
        assertFalse(machine.holdsUp(3));
        assertTrue(machine.holdsUp(4));
        machine.on(new CheckpointEvent.Ending());
        assertFalse(machine.holdsUp(4));
    }

    @Test
    void shouldNotWriteAgainWhatStandsOrIsUnderWay() {
        commit(2);
        assertEquals(List.of(), commit(2), "the run went back while it is written");
        part(2, 0);
        part(2, 1);
        machine.on(new CheckpointEvent.Stands(at(2)));
        assertEquals(List.of(), commit(2), "the run went back since");
        assertEquals(List.of(), new BackgroundCheckpoint(settings().savedAt(2))
                .on(new CheckpointEvent.Committed(new Commit(2, LossScale.none(2)), 0, HOSTS)));
    }

    @Test
    void shouldTryAgainWhatFailedWhereTheRunGoesBack() {
        commit(2);
        machine.on(new CheckpointEvent.NodeGone("a", "gone"));
        part(2, 1);
        machine.on(new CheckpointEvent.Deleted(at(2)));
        CheckpointAttempt again = new CheckpointAttempt(2, 1);
        assertEquals(List.of(new CheckpointCommand.WriteParts(again, List.of("b", "b"))), machine.on(
                new CheckpointEvent.Committed(new Commit(2, LossScale.none(2)), 1, List.of("b", "b"))));
        assertEquals(List.of(), part(2, 0), "of the attempt that was given up");
        assertEquals(List.of(), machine.on(new CheckpointEvent.PartWritten(again, 0, file(0))));
    }

    @Test
    void shouldWaitForAllBeforeItDeletesWhatAFailedOneLeaves() {
        commit(2);
        assertEquals(List.of(), machine.on(new CheckpointEvent.PartFailed(at(2), 1, "no room")));
        assertEquals(failed("no room"), part(2, 0));
        assertTrue(machine.isUnderWay(), "until it is deleted");
        machine.on(new CheckpointEvent.Deleted(at(2)));
        assertFalse(machine.isUnderWay());
    }

    @Test
    void shouldDoWithoutOneThatCannotBeCommitted() {
        commit(2);
        part(2, 0);
        part(2, 1);
        assertEquals(failed("no rename"), machine.on(new CheckpointEvent.Refused(at(2), "no rename")));
    }

    @Test
    void shouldGoOnWithThePartsThatALostNodeHasWritten() {
        commit(2);
        part(2, 0);
        assertEquals(List.of(), machine.on(new CheckpointEvent.NodeGone("a", "gone")));
        assertEquals(CheckpointCommand.CommitParts.class, part(2, 1).getFirst().getClass());
        assertEquals(List.of(), machine.on(new CheckpointEvent.NodeGone("b", "gone")));
    }

    @Test
    void shouldGiveUpWhatTheRunHasWaitedForTooLong() {
        commit(2);
        assertEquals(failed(OVERDUE), machine.on(new CheckpointEvent.Overdue()));
        assertEquals(List.of(), part(2, 0), "too late");
        machine.on(new CheckpointEvent.Overdue());
        assertFalse(machine.isUnderWay(), "where not even deleting ends");
        commit(4);
        part(4, 0);
        part(4, 1);
        assertEquals(List.of(new CheckpointCommand.ReportFailed(4, OVERDUE)),
                machine.on(new CheckpointEvent.Overdue()));
        assertEquals(List.of(), machine.on(new CheckpointEvent.Stands(at(4))), "too late");
        assertFalse(machine.isUnderWay());
    }

    /** What may happen next; each names itself. */
    private enum Move {
        COMMIT, PART_0, PART_1, FAIL_0, FAIL_1, STANDS, REFUSED, DELETED, LOSE_A, OVERDUE
    }

    /** A run with at most one fault, as far as its moves say; whatever is asked for is answered some time. */
    private static final class World {
        private final BackgroundCheckpoint machine = new BackgroundCheckpoint(settings());
        private final List<String> said = new ArrayList<>();
        private final List<CheckpointEvent> pending = new ArrayList<>();
        private long stepsDone;
        private boolean hasFault;
        private CheckpointAttempt underWay;

        List<Move> moves() {
            List<Move> moves = new ArrayList<>();
            if (stepsDone < 6 && !machine.holdsUp(stepsDone + 1)) {
                moves.add(Move.COMMIT);
            }
            for (CheckpointEvent event : pending) {
                switch (event) {
                    case CheckpointEvent.PartWritten(var _, int rank, var _) -> {
                        moves.add(rank == 0 ? Move.PART_0 : Move.PART_1);
                        addFault(moves, rank == 0 ? Move.FAIL_0 : Move.FAIL_1);
                    }
                    case CheckpointEvent.Stands _ -> {
                        moves.add(Move.STANDS);
                        addFault(moves, Move.REFUSED);
                    }
                    case CheckpointEvent.Deleted _ -> moves.add(Move.DELETED);
                    case CheckpointEvent.Committed _,CheckpointEvent.PartFailed _,CheckpointEvent.Refused _,CheckpointEvent.NodeGone _,CheckpointEvent.Overdue _,CheckpointEvent.Moving _,CheckpointEvent.TimeIsUp _,CheckpointEvent.Ending _ ->
                        throw new AssertionError(event + " is no answer");
                }
            }
            addFault(moves, Move.LOSE_A);
            if (machine.holdsUp(stepsDone + 1)) {
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
                case COMMIT -> {
                    stepsDone++;
                    take(new CheckpointEvent.Committed(new Commit(stepsDone, LossScale.none(stepsDone)), 0, HOSTS));
                }
                case PART_0 -> take(takePart(0));
                case PART_1 -> take(takePart(1));
                case FAIL_0 -> take(new CheckpointEvent.PartFailed(takePart(0).attempt(), 0, "full"));
                case FAIL_1 -> take(new CheckpointEvent.PartFailed(takePart(1).attempt(), 1, "full"));
                case STANDS -> take(takeAnswer(CheckpointEvent.Stands.class));
                case REFUSED -> take(
                        new CheckpointEvent.Refused(takeAnswer(CheckpointEvent.Stands.class).attempt(), "full"));
                case DELETED -> take(takeAnswer(CheckpointEvent.Deleted.class));
                case LOSE_A -> {
                    pending.removeIf(event -> event instanceof CheckpointEvent.PartWritten part && part.rank() == 0);
                    take(new CheckpointEvent.NodeGone("a", "gone"));
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

        private void take(CheckpointEvent event) {
            for (CheckpointCommand command : machine.on(event)) {
                switch (command) {
                    case CheckpointCommand.WriteParts(var attempt, var hosts) -> {
                        assertEquals(null, underWay, "two at a time");
                        assertEquals(stepsDone, attempt.stepsDone());
                        underWay = attempt;
                        for (int rank = 0; rank < hosts.size(); rank++) {
                            pending.add(new CheckpointEvent.PartWritten(attempt, rank, file(rank)));
                        }
                    }
                    case CheckpointCommand.CommitParts(var attempt, LossScale scale, var parts) -> {
                        assertEquals(underWay, attempt);
                        assertEquals(LossScale.none(attempt.stepsDone()), scale);
                        assertEquals(List.of(file(0), file(1)), parts);
                        pending.add(new CheckpointEvent.Stands(attempt));
                    }
                    case CheckpointCommand.Delete(var attempt) -> {
                        assertEquals(underWay, attempt);
                        pending.add(new CheckpointEvent.Deleted(attempt));
                    }
                    case CheckpointCommand.ReportStands(long steps) -> said.add(steps + " stands");
                    case CheckpointCommand.ReportFailed(long steps, var _) -> said.add(steps + " failed");
                }
            }
            if (!machine.isUnderWay()) {
                underWay = null;
            }
        }
    }

    /** Each is told of once, in order, and where nothing goes wrong all stand. */
    @Test
    void shouldTellOfEachThatIsDueOnceInEveryOrderOfEvents() {
        int runs = 0;
        List<List<Move>> open = new ArrayList<>(List.of(List.of()));
        while (!open.isEmpty()) {
            List<Move> made = open.removeLast();
            World world = new World();
            made.forEach(world::make);
            List<Move> moves = world.moves();
            // A node that is lost may be lost at any time; that alone keeps no run going.
            if (moves.isEmpty() || moves.equals(List.of(Move.LOSE_A))) {
                runs++;
                assertEquals(6, world.stepsDone, "stands still after " + made);
                assertFalse(world.machine.isUnderWay(), () -> "never ends: " + made);
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

    private static CheckpointAttempt at(long stepsDone) {
        return new CheckpointAttempt(stepsDone, 0);
    }

    private static CheckpointPart file(int rank) {
        return new CheckpointPart("rank-00" + rank, 1, "00");
    }

    private static List<CheckpointCommand> failed(String why) {
        return List.of(new CheckpointCommand.ReportFailed(2, why), new CheckpointCommand.Delete(at(2)));
    }

    private List<CheckpointCommand> commit(long stepsDone) {
        return machine.on(new CheckpointEvent.Committed(new Commit(stepsDone, LossScale.none(stepsDone)), 0, HOSTS));
    }

    private List<CheckpointCommand> part(long stepsDone, int rank) {
        return machine.on(new CheckpointEvent.PartWritten(at(stepsDone), rank, file(rank)));
    }
}
