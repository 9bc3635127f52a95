package dev.troupe.actor;

import dev.troupe.checkpoint.CheckpointException;
import dev.troupe.checkpoint.CheckpointStore;
import dev.troupe.protocol.checkpoint.BackgroundCheckpoint;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointCommand;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointTimer;
import dev.troupe.protocol.Commit;
import dev.troupe.protocol.run.RunCommand;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.run.RunMachine;
import dev.troupe.protocol.RunSettings;
import dev.troupe.prepare.Reason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * The checkpoints of a run, on its coordinator's side: what is written beside training, around
 * {@link BackgroundCheckpoint}, and the files of what the ranks write between two steps. What a run must not do while
 * one is under way waits here: the update at whose commit the next is due, the checkpoint at the end, the end of a run
 * that failed. To the {@link RunMachine} that is no more than a message or a disk that is slow.
 *
 * <p>Belongs to the coordinator.
 */
final class Checkpoints {
    private final CoordinatorSetup setup;
    private final RunSettings settings;
    private final Map<String, ActorRef<NodeActor.Command>> nodes;
    private final IntSupplier epoch;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final Optional<BackgroundCheckpoint> beside;
    private final Queue<RunEvent> heldEvents = new ArrayDeque<>();
    private Optional<RunCommand> heldCommand = Optional.empty();
    private final CheckpointTimer timer;
    private boolean allStand = true;
    private int looksWaited;

    /**
     * @param settings
     *            with the last checkpoint that stands
     * @param nodes
     *            by their names, as they come and go
     * @param epoch
     *            the present one
     * @param coordinator
     *            hears what comes of files
     */
    Checkpoints(CoordinatorSetup setup, RunSettings settings, Map<String, ActorRef<NodeActor.Command>> nodes,
            IntSupplier epoch, ActorRef<TrainingCoordinator.Command> coordinator) {
        this.setup = setup;
        this.settings = settings;
        this.nodes = nodes;
        this.epoch = epoch;
        this.coordinator = coordinator;
        this.timer = new CheckpointTimer(setup.checkpointInterval().toNanos(), setup.clock().getAsLong());
        this.beside = settings.keepsSnapshots() ? Optional.of(new BackgroundCheckpoint(settings)) : Optional.empty();
    }

    /** What of the order is for the ranks: where they keep snapshots, only the checkpoint at the end. */
    static RunSettings ofRanks(RunSettings settings) {
        return settings.keepsSnapshots() ? settings.withLastCheckpointOnly() : settings;
    }

    private boolean isUnderWay() {
        return beside.filter(BackgroundCheckpoint::isUnderWay).isPresent();
    }

    /** A step is committed, and these nodes have what the ranks kept. */
    void committed(Commit commit, List<String> hosts) {
        take(new CheckpointEvent.Committed(commit, epoch.getAsInt(), hosts));
    }

    void take(CheckpointEvent event) {
        boolean isOfAnother = event instanceof CheckpointEvent.Moving moving
                && beside.filter(machine -> machine.isOfThis(moving)).isEmpty();
        if (!isOfAnother) {
            looksWaited = 0;
        }
        beside.ifPresent(machine -> machine.on(event).forEach(this::carryOut));
    }

    private void carryOut(CheckpointCommand command) {
        switch (command) {
            case CheckpointCommand.WriteParts(var attempt, var hosts) -> nodes.forEach((name, node) -> {
                List<Integer> ranks = IntStream.range(0, hosts.size()).filter(rank -> hosts.get(rank).equals(name))
                        .boxed().toList();
                if (!ranks.isEmpty()) {
                    node.tell(new NodeActor.WriteParts(attempt, ranks));
                }
            });
            case CheckpointCommand.CommitParts(var attempt, var lossScale, var parts) -> aside(() -> {
                try {
                    setup.checkpoints().commit(attempt.stepsDone(), lossScale, parts);
                    return new CheckpointEvent.Stands(attempt);
                } catch (RuntimeException unwritten) {
                    return new CheckpointEvent.Refused(attempt, Reason.of(unwritten));
                }
            });
            case CheckpointCommand.Delete(CheckpointAttempt attempt) -> aside(() -> {
                setup.checkpoints().abandon(attempt.stepsDone());
                return new CheckpointEvent.Deleted(attempt);
            });
            case CheckpointCommand.ReportStands(long stepsDone) -> reportStands(stepsDone);
            case CheckpointCommand.ReportFailed(long stepsDone, String why) -> reportFailed(stepsDone, why);
        }
    }

    /** A thread for each time: where a disk hangs, only what waits for it does. */
    private void aside(Supplier<CheckpointEvent> work) {
        Thread.ofPlatform().daemon().name("troupe-checkpoints")
                .start(() -> coordinator.tell(new TrainingCoordinator.CheckpointHappened(work.get())));
    }

    private void reportStands(long stepsDone) {
        timer.restart(setup.clock().getAsLong());
        setup.listener().onCheckpoint(stepsDone, CheckpointStore.directoryOf(setup.directory(), stepsDone));
        EventLog.ofRun(epoch.getAsInt(), stepsDone, "a checkpoint stands");
    }

    void reportFailed(long stepsDone, String why) {
        timer.restart(setup.clock().getAsLong());
        setup.listener().onCheckpointFailed(stepsDone, why);
        EventLog.ofRun(epoch.getAsInt(), stepsDone, "a checkpoint could not be written: " + why);
    }

    /** Takes in what happens to the run; whether the run hears of it later, from {@link #takeEvent}, or not at all. */
    boolean holdsBack(RunEvent event) {
        if (event instanceof RunEvent.NodeLost(String node, String reason)) {
            take(new CheckpointEvent.NodeGone(node, reason));
        } else if (event instanceof RunEvent.StopRequested) {
            take(new CheckpointEvent.Ending());
        }
        if (heldCommand.filter(RunCommand.Fail.class::isInstance).isPresent()) {
            return true; // the run is over
        }
        boolean waits = event instanceof RunEvent.Updated updated
                && beside.filter(machine -> machine.holdsUp(updated.step() + 1)).isPresent();
        if (waits) {
            heldEvents.add(event);
        }
        return waits;
    }

    /** Takes in what the run is to do; whether that is done later, when {@link #takeCommand} gives it, or not at all. */
    boolean holdsBack(RunCommand command) {
        if (command instanceof RunCommand.EnterEpoch) {
            allStand = false;
        } else if (command instanceof RunCommand.Resume) {
            allStand = true;
        } else if (command instanceof RunCommand.AbandonCheckpoint) {
            heldCommand = Optional.empty(); // the run goes back
        }
        boolean isWrite = command instanceof RunCommand.WriteCheckpoint;
        if (isWrite && heldCommand.isPresent()) {
            return true; // the one that waits is for all ranks, those too that were started again since
        }
        boolean waits = isUnderWay() && (isWrite || command instanceof RunCommand.Fail);
        if (waits) {
            heldCommand = Optional.of(command);
        }
        return waits;
    }

    /** What need not wait any more. A checkpoint waits also for all ranks to stand: they are told of it once. */
    Optional<RunCommand> takeCommand() {
        Optional<RunCommand> ready = heldCommand.filter(
                command -> !isUnderWay() && (allStand || command instanceof RunCommand.Fail));
        ready.ifPresent(_ -> heldCommand = Optional.empty());
        return ready;
    }

    /** What the run is to hear now. */
    Optional<RunEvent> takeEvent() {
        return isUnderWay() ? Optional.empty() : Optional.ofNullable(heldEvents.poll());
    }

    /**
     * What the run is to hear where the last checkpoint is too old; nothing where checkpoints are written beside
     * training.
     */
    Optional<RunEvent> dueByTime() {
        if (!timer.takeDue(setup.clock().getAsLong())) {
            return Optional.empty();
        }
        take(new CheckpointEvent.TimeIsUp());
        return beside.isPresent() ? Optional.empty() : Optional.of(new RunEvent.CheckpointTimeIsUp());
    }

    /**
     * Looks whether the run has waited long enough for something of the checkpoint to happen, a piece of it that is
     * written too.
     *
     * @param lookEvery
     *            the time between two looks: by these it counts, so that time in which nobody looks does not
     */
    void look(Duration lookEvery) {
        boolean isAwaited = isUnderWay() && (heldCommand.isPresent() || !heldEvents.isEmpty());
        looksWaited = isAwaited ? looksWaited + 1 : 0;
        Duration patience = setup.timeout().dividedBy(2); // before it is noticed that nothing moves
        if (setup.hangTimeout().compareTo(patience) < 0) {
            patience = setup.hangTimeout();
        }
        if (isAwaited && lookEvery.multipliedBy(looksWaited).compareTo(patience) > 0) {
            take(new CheckpointEvent.Overdue());
        }
    }

    /** Why there is no room for one that the ranks are to write; empty where there is, or it is begun and has it. */
    Optional<RunEvent> refusal(RunCommand.WriteCheckpoint write) {
        if (write.ranks().size() == settings.rankCount()) {
            try {
                setup.checkpoints().requireRoom();
            } catch (CheckpointException full) {
                return Optional.of(new RunEvent.CheckpointFailed(full.getMessage()));
            }
        }
        return Optional.empty();
    }

    /** Makes what the ranks wrote a checkpoint. */
    RunEvent commit(RunCommand.CommitCheckpoint commit) {
        try {
            setup.checkpoints().commit(commit.stepsDone(), commit.lossScale(), commit.parts());
        } catch (CheckpointException unwritten) {
            return new RunEvent.CheckpointFailed(unwritten.getMessage());
        }
        reportStands(commit.stepsDone());
        return new RunEvent.CheckpointCommitted();
    }

    /** Deletes what the ranks wrote of one that will not be. */
    void abandon(long stepsDone) {
        setup.checkpoints().abandon(stepsDone);
    }
}
