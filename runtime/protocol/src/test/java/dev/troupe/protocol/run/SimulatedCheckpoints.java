package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointCommand;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointMachine;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** The checkpoints of a run: a real {@link CheckpointMachine}, and the disk, which does one thing after the other. */
final class SimulatedCheckpoints {
    private final Simulation run;
    private final SimulatedCoordinator coordinator;
    private final RunSettings settings;
    private final Deque<Runnable> disk = new ArrayDeque<>();
    private final Move diskWorks = new Move("the disk commits or deletes a checkpoint", () -> disk.remove().run());
    // By steps, in the order in which they came to stand.
    private final List<Long> standing = new ArrayList<>();
    private final Set<Long> doneWithout = new TreeSet<>();
    private CheckpointMachine machine;
    private CheckpointAttempt underWay;
    private boolean isDiskFull;

    SimulatedCheckpoints(Simulation run, SimulatedCoordinator coordinator, RunSettings settings) {
        this.run = run;
        this.coordinator = coordinator;
        this.settings = settings;
        this.machine = new CheckpointMachine(settings.rankCount());
    }

    /** The coordinator is lost with what it knows, and its process with what it does. */
    void lose() {
        machine = new CheckpointMachine(settings.rankCount());
        disk.clear();
        if (underWay != null) {
            doneWithout.add(underWay.stepsDone());
            underWay = null;
        }
    }

    void addMoves(List<Move> all) {
        if (!disk.isEmpty()) {
            all.add(diskWorks);
        }
    }

    void take(CheckpointEvent event) {
        if (event instanceof CheckpointEvent.Wanted wanted) {
            underWay = wanted.attempt();
            if (run.protocol().settlesAtOnce() && underWay.way() == CheckpointWay.AWAITED) {
                settled(new CheckpointCommand.ReportSettled(underWay, true, Optional.empty()));
                return;
            }
        }
        for (CheckpointCommand command : machine.on(fenced(event))) {
            switch (command) {
                case CheckpointCommand.WriteFromSnapshots(var attempt, var hosts) -> hosts.stream().distinct()
                        .forEach(host -> run.node(host).tell(attempt, IntStream.range(0, hosts.size())
                                .filter(rank -> hosts.get(rank).equals(host)).boxed().toList()));
                case CheckpointCommand.HaveRanksWrite(var attempt, var ranks) ->
                    ranks.forEach(rank -> coordinator.tell(rank, to -> to.writeCheckpoint(attempt.stepsDone())));
                case CheckpointCommand.CommitParts commit -> disk.add(() -> take(commit(commit)));
                case CheckpointCommand.Delete(var attempt) ->
                    disk.add(() -> take(new CheckpointEvent.Deleted(attempt)));
                case CheckpointCommand.ReportStands(long stepsDone) ->
                    assertEquals(stepsDone, standing.getLast(), "the checkpoint that stands");
                case CheckpointCommand.ReportFailed(long stepsDone, String _) -> doneWithout.add(stepsDone);
                case CheckpointCommand.ReportSettled settled -> settled(settled);
            }
        }
    }

    /** With the protocol broken, what is of an earlier attempt is taken for the present one's. */
    private CheckpointEvent fenced(CheckpointEvent event) {
        return run.protocol().mixesAttempts() && event instanceof CheckpointEvent.PartWritten(var _, int rank, var part)
                && underWay != null
                        ? new CheckpointEvent.PartWritten(underWay, rank, part)
                        : event;
    }

    private void settled(CheckpointCommand.ReportSettled settled) {
        underWay = null;
        coordinator.ask(new RunEvent.CheckpointSettled(settled.attempt(), settled.stands(), settled.failure()));
    }

    private CheckpointEvent commit(CheckpointCommand.CommitParts commit) {
        CheckpointAttempt attempt = commit.attempt();
        if (attempt.way() == CheckpointWay.BESIDE && takeFullDisk()) {
            return new CheckpointEvent.Refused(attempt, "the disk is full");
        }
        long stepsDone = attempt.stepsDone();
        assertEquals(IntStream.range(0, settings.rankCount()).mapToObj(
                rank -> new CheckpointPart("rank-" + rank, stepsDone, run.truth().checksum(rank, stepsDone))).toList(),
                commit.parts(), "the parts of the checkpoint after " + stepsDone + " steps");
        assertTrue(standing.isEmpty() || standing.getLast() < stepsDone,
                () -> "a checkpoint after " + stepsDone + " steps, where those after " + standing + " stand");
        standing.add(stepsDone);
        return new CheckpointEvent.Stands(attempt);
    }

    /** The run is over: its last checkpoint stands, and each that was due does, or was reported. */
    void checkEnd(long committed, boolean wasStopped) {
        if (settings.endsWithCheckpoint() && newest() != committed) {
            throw new AssertionError("the run is over, and after " + committed + " steps only the checkpoints of "
                    + standing + " stand");
        }
        for (long steps = settings.firstStep() + 1; steps < committed && !wasStopped; steps++) {
            long due = steps;
            assertTrue(!RunSettings.isDue(settings.checkpointEvery(), due) || standing.contains(due)
                    || doneWithout.contains(due), () -> "nothing came of the checkpoint after " + due + " steps");
        }
    }

    long newest() {
        return standing.isEmpty() ? settings.savedStep() : standing.getLast();
    }

    List<Long> standing() {
        return standing;
    }

    /** Whether one is written beside training. */
    boolean isBesideUnderWay() {
        return underWay != null && underWay.way() == CheckpointWay.BESIDE;
    }

    /** The next that is written beside training finds no room. */
    void fillDisk() {
        isDiskFull = true;
    }

    boolean takeFullDisk() {
        boolean wasFull = isDiskFull;
        isDiskFull = false;
        return wasFull;
    }

    @Override
    public String toString() {
        return "\n  checkpoints of " + standing + " stand, under way " + underWay + ", the disk has to do "
                + disk.size();
    }
}
