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
import dev.troupe.protocol.node.NodeEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The checkpoints of a run: a real {@link CheckpointMachine}, and the disk, which does one thing after the other. */
final class SimulatedCheckpoints {
    private final Simulation run;
    private final SimulatedCoordinator coordinator;
    private final RunSettings settings;
    private final Deque<Runnable> disk = new ArrayDeque<>();
    private final Move diskWorks;
    private final RunRecords records;
    private CheckpointMachine machine;
    private CheckpointAttempt inProgress;

    SimulatedCheckpoints(Simulation run, SimulatedCoordinator coordinator, RunSettings settings, RunRecords records) {
        this.run = run;
        this.coordinator = coordinator;
        this.settings = settings;
        this.records = records;
        this.diskWorks = new Move("the disk commits or deletes a checkpoint for " + coordinator.host().name(),
                () -> disk.remove().run());
        this.machine = new CheckpointMachine(settings.rankCount());
    }

    /** Loses the coordinator with its knowledge, and its process with its work. */
    void lose() {
        machine = new CheckpointMachine(settings.rankCount());
        disk.clear();
        if (inProgress != null) {
            records.doneWithout.add(inProgress.stepsDone());
            inProgress = null;
        }
    }

    void addMoves(List<Move> all) {
        if (!disk.isEmpty()) {
            all.add(diskWorks);
        }
    }

    void take(CheckpointEvent event) {
        if (event instanceof CheckpointEvent.Wanted wanted) {
            inProgress = wanted.attempt();
            if (run.protocol().settlesAtOnce() && inProgress.way() == CheckpointWay.AWAITED) {
                settled(new CheckpointCommand.ReportSettled(inProgress, true, Optional.empty()));
                return;
            }
        }
        for (CheckpointCommand command : machine.on(fenced(event))) {
            switch (command) {
                case CheckpointCommand.WriteFromSnapshots(var attempt, var hosts) -> hosts.stream().distinct()
                        .forEach(host -> coordinator.tellNode(host, new NodeEvent.WriteParts(attempt,
                                IntStream.range(0, hosts.size()).filter(rank -> hosts.get(rank).equals(host)).boxed()
                                        .toList())));
                case CheckpointCommand.HaveRanksWrite(var attempt, var ranks) ->
                    ranks.forEach(rank -> coordinator.tell(rank, to -> to.writeCheckpoint(attempt.stepsDone())));
                case CheckpointCommand.CommitParts commit -> disk.add(() -> take(commit(commit)));
                case CheckpointCommand.Delete(var attempt) ->
                    disk.add(() -> take(new CheckpointEvent.Deleted(attempt)));
                case CheckpointCommand.ReportWritten(long stepsDone) ->
                    assertEquals(stepsDone, records.checkpoints.getLast(), "the last complete checkpoint");
                case CheckpointCommand.ReportFailed(long stepsDone, String _) -> records.doneWithout.add(stepsDone);
                case CheckpointCommand.ReportPinned(var attempt) ->
                    coordinator.ask(new RunEvent.CheckpointPinned(attempt));
                case CheckpointCommand.ReportSettled settled -> settled(settled);
            }
        }
    }

    /** Takes an event of an earlier attempt for the present one's, if the protocol is broken. */
    private CheckpointEvent fenced(CheckpointEvent event) {
        return run.protocol().mixesAttempts() && event instanceof CheckpointEvent.PartWritten(var _, int rank, var part)
                && inProgress != null
                        ? new CheckpointEvent.PartWritten(inProgress, rank, part)
                        : event;
    }

    private void settled(CheckpointCommand.ReportSettled settled) {
        inProgress = null;
        coordinator.ask(new RunEvent.CheckpointSettled(settled.attempt(), settled.isWritten(), settled.failure()));
    }

    private CheckpointEvent commit(CheckpointCommand.CommitParts commit) {
        CheckpointAttempt attempt = commit.attempt();
        if (attempt.way() == CheckpointWay.DURING_TRAINING && run.takeFullDisk()) {
            return new CheckpointEvent.Refused(attempt, "the disk is full");
        }
        long stepsDone = attempt.stepsDone();
        assertEquals(IntStream.range(0, settings.rankCount()).mapToObj(
                rank -> new CheckpointPart("rank-" + rank, stepsDone, run.truth().checksum(rank, stepsDone))).toList(),
                commit.parts(), "the parts of the checkpoint after " + stepsDone + " steps");
        assertTrue(records.checkpoints.isEmpty() || records.checkpoints.getLast() < stepsDone,
                () -> "a checkpoint after " + stepsDone + " steps, where those after " + records.checkpoints
                        + " are complete");
        records.checkpoints.add(stepsDone);
        return new CheckpointEvent.Complete(attempt);
    }

    /** Checks at the end that the last checkpoint is complete, and that each other due one is, or was reported. */
    void checkEnd(long committed) {
        if (settings.endsWithCheckpoint() && newest() != committed) {
            throw new AssertionError("the run is over, and after " + committed + " steps only the checkpoints of "
                    + records.checkpoints + " are complete");
        }
        for (long steps = settings.firstStep() + 1; steps < committed && !records.wasStopped; steps++) {
            long due = steps;
            assertTrue(!RunSettings.isDue(settings.checkpointEvery(), due) || records.checkpoints.contains(due)
                    || records.doneWithout.contains(due),
                    () -> "nothing came of the checkpoint after " + due + " steps");
        }
    }

    long newest() {
        return records.checkpoints.isEmpty() ? settings.savedStep() : records.checkpoints.getLast();
    }

    /** Returns whether a checkpoint is being written during training. */
    boolean isInProgressDuringTraining() {
        return inProgress != null && inProgress.way() == CheckpointWay.DURING_TRAINING;
    }

    @Override
    public String toString() {
        return "\n  checkpoints of " + records.checkpoints + " are complete, in progress " + inProgress
                + ", the disk has to do "
                + disk.size();
    }
}
