package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.checkpoint.BackgroundCheckpoint;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointCommand;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.checkpoint.CheckpointTimer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One rank of one stage; nothing is due by its steps. */
@Tag("plan")
class TimedCheckpointTest {
    private static final List<String> HOSTS = List.of("a");
    private static final CheckpointPart PART = new CheckpointPart("part", 1, "");

    private static RunSettings settings(int mostRecoveries) {
        return new RunSettings(1, 0, 9, _ -> 0.1, 0, LossScale.none(0), 0, 0, -1, true, List.of(List.of(0)),
                mostRecoveries);
    }

    @Test
    void shouldBeDueOnceForEachIntervalFromTheLastCheckpointOn() {
        CheckpointTimer timer = new CheckpointTimer(100, 1000);
        assertFalse(timer.takeDue(1099));
        assertTrue(timer.takeDue(1100));
        assertFalse(timer.takeDue(1101));
        timer.restart(1150); // it stands
        assertFalse(timer.takeDue(1249));
        assertTrue(timer.takeDue(1250));
        assertFalse(new CheckpointTimer(0, 0).takeDue(Long.MAX_VALUE));
    }

    @Test
    void shouldWriteBesideTrainingAtTheNextCommit() {
        BackgroundCheckpoint machine = new BackgroundCheckpoint(settings(5));
        assertEquals(List.of(), machine.on(committed(1)));
        assertEquals(List.of(), machine.on(new CheckpointEvent.TimeIsUp()));
        CheckpointAttempt attempt = new CheckpointAttempt(2, 0);
        assertEquals(List.of(new CheckpointCommand.WriteParts(attempt, HOSTS)), machine.on(committed(2)));
        assertFalse(machine.holdsUp(3));
        assertEquals(List.of(), machine.on(committed(3)));
        machine.on(new CheckpointEvent.TimeIsUp()); // a slow disk: the next waits for this one
        assertEquals(List.of(), machine.on(committed(4)));
        machine.on(new CheckpointEvent.PartWritten(attempt, 0, PART));
        assertEquals(List.of(new CheckpointCommand.ReportStands(2)), machine.on(new CheckpointEvent.Stands(attempt)));
        assertEquals(List.of(new CheckpointCommand.WriteParts(new CheckpointAttempt(5, 0), HOSTS)),
                machine.on(committed(5)));
    }

    /** The ranks write that one. */
    @Test
    void shouldNotWriteTheLastOneBesideTraining() {
        BackgroundCheckpoint machine = new BackgroundCheckpoint(settings(5));
        machine.on(new CheckpointEvent.TimeIsUp());
        assertEquals(List.of(), machine.on(committed(9)));
        BackgroundCheckpoint ending = new BackgroundCheckpoint(settings(5));
        ending.on(new CheckpointEvent.TimeIsUp());
        ending.on(new CheckpointEvent.Ending());
        assertEquals(List.of(), ending.on(committed(3)));
    }

    private static CheckpointEvent committed(long stepsDone) {
        return new CheckpointEvent.Committed(new Commit(stepsDone, LossScale.none(0)), 0, HOSTS);
    }

    @Test
    void shouldHaveTheRanksWriteOneWhereTheyKeepNoSnapshots() {
        RunMachine machine = OneNode.coordinator(settings(0));
        machine.on(new RunEvent.EpochReady(from(), 0, -1, List.of()));
        step(machine, 0);
        machine.on(new RunEvent.CheckpointTimeIsUp());
        assertEquals(new RunCommand.WriteCheckpoint(2, List.of(0)), step(machine, 1).getLast());
        machine.on(new RunEvent.CheckpointPartWritten(from(), PART));
        assertEquals(List.of(new RunCommand.StartPass(new Pass(2, Pass.Kind.TRAINING), List.of(0))),
                machine.on(new RunEvent.CheckpointCommitted()));
        assertEquals(new RunCommand.StartPass(new Pass(3, Pass.Kind.TRAINING), List.of(0)),
                step(machine, 2).getLast());
    }

    private static Incarnation from() {
        return new Incarnation(0, 0);
    }

    private static List<RunCommand> step(RunMachine machine, long step) {
        machine.on(new RunEvent.PassDone(from(), new Pass(step, Pass.Kind.TRAINING),
                List.of(new MicrobatchLoss(0, 2)), List.of(new LayerSquaredSum(0, 0, 1))));
        return machine.on(new RunEvent.Updated(from(), step, Traffic.NONE));
    }
}
