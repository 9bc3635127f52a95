package dev.troupe.run.actor;

import dev.troupe.plan.checkpoint.CheckpointException;
import dev.troupe.plan.checkpoint.CheckpointStore;
import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointCommand;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointMachine;
import dev.troupe.protocol.checkpoint.CheckpointPatience;
import dev.troupe.protocol.checkpoint.CheckpointTimer;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.run.news.RunReports;
import dev.troupe.run.setup.CoordinatorSetup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * The shell around the {@link CheckpointMachine}: it orders nodes and ranks to write, and commits and deletes files. Thread
 * rule: the coordinator's thread.
 */
final class Checkpoints {
    private final CoordinatorSetup setup;
    private final RunReports reports;
    private final LongSupplier clock;
    private final Map<String, ActorRef<NodeActor.Command>> nodes;
    private final BiConsumer<List<Integer>, ScheduleActor.Order> ranks;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final CheckpointMachine machine;
    private final CheckpointTimer timer;
    private final CheckpointPatience patience;

    /**
     * @param reports receives the end of each checkpoint
     * @param nodes the present nodes by their names
     * @param ranks sends an order to ranks
     * @param coordinator receives whether files were written, committed or deleted
     */
    Checkpoints(CoordinatorSetup setup, RunReports reports, Map<String, ActorRef<NodeActor.Command>> nodes,
            BiConsumer<List<Integer>, ScheduleActor.Order> ranks, ActorRef<TrainingCoordinator.Command> coordinator) {
        this.setup = setup;
        this.reports = reports;
        this.clock = setup.patience().clock();
        this.nodes = nodes;
        this.ranks = ranks;
        this.coordinator = coordinator;
        this.machine = new CheckpointMachine(setup.settings().rankCount());
        this.timer = new CheckpointTimer(setup.files().checkpointInterval().toNanos(), clock.getAsLong());
        this.patience = new CheckpointPatience(setup.patience().timeout().toNanos(),
                setup.patience().hangTimeout().toNanos(),
                setup.patience().tickEvery().toNanos());
    }

    /** Handles one event; returns the resulting events of the run, in order. */
    List<RunEvent> take(CheckpointEvent event) {
        if (!(event instanceof CheckpointEvent.Moving moving) || machine.isOfThis(moving)) {
            patience.moved();
        }
        List<RunEvent> events = new ArrayList<>();
        for (CheckpointCommand command : machine.on(event)) {
            switch (command) {
                case CheckpointCommand.WriteFromSnapshots(var attempt, var hosts) -> writeFromSnapshots(attempt, hosts);
                case CheckpointCommand.HaveRanksWrite(var attempt, var ordered) ->
                    events.addAll(haveRanksWrite(attempt, ordered));
                case CheckpointCommand.CommitParts commit ->
                    events.addAll(answer(commit.attempt(), () -> commit(commit)));
                case CheckpointCommand.Delete(CheckpointAttempt attempt) -> events.addAll(answer(attempt, () -> {
                    setup.files().checkpoints().abandon(attempt.stepsDone());
                    return new CheckpointEvent.Deleted(attempt);
                }));
                case CheckpointCommand.ReportPinned(CheckpointAttempt attempt) ->
                    events.add(new RunEvent.CheckpointPinned(attempt));
                case CheckpointCommand.ReportWritten(long stepsDone) -> reportWritten(stepsDone);
                case CheckpointCommand.ReportFailed(long stepsDone, String why) -> reportFailed(stepsDone, why);
                case CheckpointCommand.ReportSettled(var attempt, boolean isWritten, var failure) ->
                    events.add(new RunEvent.CheckpointSettled(attempt, isWritten, failure));
            }
        }
        return events;
    }

    private void writeFromSnapshots(CheckpointAttempt attempt, List<String> hosts) {
        nodes.forEach((name, node) -> {
            List<Integer> here = IntStream.range(0, hosts.size()).filter(rank -> hosts.get(rank).equals(name)).boxed()
                    .toList();
            if (!here.isEmpty()) {
                node.tell(new NodeActor.Happened(
                        new NodeEvent.Ordered(setup.term(), new NodeEvent.WriteParts(attempt, here))));
            }
        });
    }

    /** Orders ranks to write. Free space is checked before all begin: later their own files take it. */
    private List<RunEvent> haveRanksWrite(CheckpointAttempt attempt, List<Integer> ordered) {
        if (ordered.size() == setup.settings().rankCount()) {
            try {
                setup.files().checkpoints().requireRoom();
            } catch (CheckpointException full) {
                return take(new CheckpointEvent.Refused(attempt, full.getMessage()));
            }
        }
        ranks.accept(ordered, new ScheduleActor.WriteCheckpoint(setup.term(), attempt.stepsDone()));
        return List.of();
    }

    private CheckpointEvent commit(CheckpointCommand.CommitParts commit) {
        try {
            setup.files().checkpoints().commit(commit.attempt().stepsDone(), commit.lossScale(), commit.parts());
            return new CheckpointEvent.Complete(commit.attempt());
        } catch (RuntimeException unwritten) {
            return new CheckpointEvent.Refused(commit.attempt(), Reason.of(unwritten));
        }
    }

    /**
     * Does work on files, during training on a separate thread for each checkpoint: a disk that hangs blocks only the
     * writers that wait for it.
     */
    private List<RunEvent> answer(CheckpointAttempt attempt, Supplier<CheckpointEvent> work) {
        if (attempt.way() == CheckpointWay.AWAITED) {
            return take(work.get());
        }
        Thread.ofPlatform().daemon().name("troupe-checkpoints")
                .start(() -> coordinator.tell(new TrainingCoordinator.CheckpointHappened(work.get())));
        return List.of();
    }

    private void reportWritten(long stepsDone) {
        timer.restart(clock.getAsLong());
        reports.checkpointDone(stepsDone, CheckpointStore.directoryOf(setup.files().directory(), stepsDone));
    }

    void reportFailed(long stepsDone, String why) {
        timer.restart(clock.getAsLong());
        reports.checkpointFailed(stepsDone, why);
    }

    /** Returns the event for the run if the last checkpoint is too old. */
    Optional<RunEvent> dueByTime() {
        return timer.takeDue(clock.getAsLong())
                ? Optional.of(new RunEvent.CheckpointTimeIsUp())
                : Optional.empty();
    }

    /**
     * Returns the events of the run if it has waited too long for progress of the checkpoint, such as a piece of a file.
     *
     * @param runWaits whether the run waits for a checkpoint that is written during training
     */
    List<RunEvent> look(boolean runWaits) {
        return patience.isOver(runWaits) ? take(new CheckpointEvent.Overdue()) : List.of();
    }
}
