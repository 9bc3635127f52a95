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
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointTimer;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One rank of one stage; nothing is due by its steps. */
@Tag("plan")
class TimedCheckpointTest {
    private static final List<String> HOSTS = List.of("");

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
    void shouldWriteDuringTrainingAtTheNextCommit() {
        RunMachine machine = ready(5);
        step(machine, 0);
        machine.on(new RunEvent.CheckpointTimeIsUp());
        assertEquals(List.of(wanted(2, CheckpointWay.DURING_TRAINING)), wishes(step(machine, 1)));
        machine.on(new RunEvent.CheckpointTimeIsUp()); // a slow disk: the next waits for this one
        assertEquals(List.of(), wishes(step(machine, 2)));
        assertFalse(machine.waitsForCheckpoint());
        assertEquals(List.of(), settle(machine, 2, CheckpointWay.DURING_TRAINING));
        assertEquals(List.of(wanted(4, CheckpointWay.DURING_TRAINING)), wishes(step(machine, 3)));
    }

    /** The ranks write the last one. */
    @Test
    void shouldNotWriteTheLastOneDuringTraining() {
        RunMachine machine = ready(5);
        machine.on(new RunEvent.CheckpointTimeIsUp());
        machine.on(new RunEvent.StopRequested());
        assertEquals(List.of(wanted(1, CheckpointWay.AWAITED)), wishes(step(machine, 0)));
    }

    private static RunMachine ready(int mostRecoveries) {
        RunMachine machine = OneNode.coordinator(settings(mostRecoveries));
        machine.on(new RunEvent.EpochReady(from(), 0, -1, List.of()));
        return machine;
    }

    private static RunCommand wanted(long stepsDone, CheckpointWay way) {
        return new RunCommand.NotifyCheckpoint(new CheckpointEvent.Wanted(new CheckpointAttempt(stepsDone, 0, way),
                LossScale.none(stepsDone), HOSTS));
    }

    private static List<RunCommand> wishes(List<RunCommand> commands) {
        return commands.stream().filter(RunCommand.NotifyCheckpoint.class::isInstance).toList();
    }

    private static List<RunCommand> settle(RunMachine machine, long stepsDone, CheckpointWay way) {
        return machine.on(
                new RunEvent.CheckpointSettled(new CheckpointAttempt(stepsDone, 0, way), true, Optional.empty()));
    }

    @Test
    void shouldHaveTheRanksWriteOneIfTheyKeepNoSnapshots() {
        RunMachine machine = ready(0);
        step(machine, 0);
        machine.on(new RunEvent.CheckpointTimeIsUp());
        assertEquals(wanted(2, CheckpointWay.AWAITED), step(machine, 1).getLast());
        assertEquals(List.of(new RunCommand.StartPass(new Pass(2, Pass.Kind.TRAINING), List.of(0))),
                settle(machine, 2, CheckpointWay.AWAITED));
        assertEquals(new RunCommand.StartPass(new Pass(3, Pass.Kind.TRAINING), List.of(0)),
                step(machine, 2).getLast());
    }

    private static Incarnation from() {
        return new Incarnation(0, 0, 1);
    }

    private static List<RunCommand> step(RunMachine machine, long step) {
        machine.on(new RunEvent.PassDone(from(), new Pass(step, Pass.Kind.TRAINING),
                List.of(new MicrobatchLoss(0, 2)), List.of(new LayerSquaredSum(0, 0, 1))));
        return machine.on(new RunEvent.Updated(from(), step, Traffic.NONE));
    }
}
