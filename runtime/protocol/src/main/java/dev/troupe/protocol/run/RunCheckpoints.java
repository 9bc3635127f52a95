package dev.troupe.protocol.run;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.List;
import java.util.Optional;

/**
 * The checkpoints that a run requests, and the events that wait for the one in progress. If ranks keep snapshots,
 * checkpoints are written during training, one at a time. The commit at which the next is due by its steps waits for the one
 * in progress. A checkpoint that is due by time, the last checkpoint, and the end of a failed run wait for it too. Without
 * snapshots, ranks write every checkpoint between two steps, and the run waits. The run continues if a checkpoint fails,
 * unless it is the last one.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class RunCheckpoints {
    private final RunSettings settings;
    private final StepProgress step;
    private final ReplicaTable replicas;
    private final CheckpointWay onTheWay;
    private Optional<CheckpointAttempt> inProgress = Optional.empty();
    /** Whether nodes have pinned the states that the checkpoint in progress needs. */
    private boolean isPinned;
    private long newest;
    private boolean isTimeUp;
    private boolean isEnding;

    /**
     * @param settings with the steps between two checkpoints, and the newest checkpoint at the start
     * @param replicas with the node of each rank, which holds its snapshot
     */
    RunCheckpoints(RunSettings settings, StepProgress step, ReplicaTable replicas) {
        this.settings = settings;
        this.step = step;
        this.replicas = replicas;
        this.onTheWay = settings.keepsSnapshots() ? CheckpointWay.DURING_TRAINING : CheckpointWay.AWAITED;
        this.newest = settings.savedStep();
    }

    /** Requests a checkpoint at the next commit, since the last one is too old. */
    void timeIsUp() {
        isTimeUp = true;
    }

    /** Ends the run after the step in progress, with a last checkpoint. */
    void endAfterStep() {
        isEnding = true;
    }

    boolean isLast() {
        return isLast(step.stepsDone());
    }

    private boolean isLast(long stepsDone) {
        return isEnding || stepsDone >= settings.stepCount();
    }

    /** Returns whether a checkpoint of the last commit is to begin now, written in this way. */
    boolean isDue(CheckpointWay way) {
        return way == onTheWay && (way == CheckpointWay.AWAITED || !isLast())
                && (isTimeUp || isDueBySteps(step.stepsDone())) && inProgress.isEmpty() && newest != step.stepsDone();
    }

    private boolean isDueBySteps(long stepsDone) {
        return RunSettings.isDue(settings.checkpointEvery(), stepsDone);
    }

    /** Returns whether a run that ends at the last commit still has to write a checkpoint. */
    boolean isWantedAtEnd() {
        return settings.endsWithCheckpoint() && newest != step.stepsDone();
    }

    void begin(CheckpointWay way, int epoch, List<RunCommand> commands) {
        Commit commit = step.lastCommit();
        CheckpointAttempt attempt = new CheckpointAttempt(commit.stepsDone(), epoch, way);
        inProgress = Optional.of(attempt);
        isTimeUp = false;
        isPinned = false;
        commands.add(new RunCommand.NotifyCheckpoint(
                new CheckpointEvent.Wanted(attempt, commit.lossScale(), replicas.hosts())));
    }

    /** Records that nodes have pinned the states that a checkpoint needs. */
    void pinned(CheckpointAttempt attempt) {
        isPinned |= inProgress.equals(Optional.of(attempt));
    }

    /** Records that the checkpoint in progress is complete or deleted. */
    void settle(RunEvent.CheckpointSettled settled) {
        if (!inProgress.equals(Optional.of(settled.attempt()))) {
            throw new IllegalStateException(settled + ", but in progress is " + inProgress);
        }
        inProgress = Optional.empty();
        newest = settled.isWritten() ? settled.attempt().stepsDone() : newest;
    }

    boolean isInProgress() {
        return inProgress.isPresent();
    }

    boolean isInProgress(CheckpointWay way) {
        return inProgress.filter(attempt -> attempt.way() == way).isPresent();
    }

    /** Passes a rank's report on its part to the checkpoint in progress. */
    void pass(RunEvent.OfCheckpoint report, List<RunCommand> commands) {
        commands.add(new RunCommand.NotifyCheckpoint(switch (report) {
            case RunEvent.CheckpointPartWritten(var from, var part) ->
                new CheckpointEvent.PartWritten(inProgress.orElseThrow(), from.rank(), part);
            case RunEvent.CheckpointPartFailed(var from, String why) ->
                new CheckpointEvent.PartFailed(inProgress.orElseThrow(), from.rank(), why);
        }));
    }

    /** Passes an event to the checkpoint in progress if the run waits for it. */
    void passToAwaited(CheckpointEvent event, List<RunCommand> commands) {
        if (isInProgress(CheckpointWay.AWAITED)) {
            commands.add(new RunCommand.NotifyCheckpoint(event));
        }
    }

    /** Reports the loss of a node to the checkpoint in progress. */
    void lose(String node, String reason, List<RunCommand> commands) {
        if (isInProgress(CheckpointWay.DURING_TRAINING)) {
            commands.add(new RunCommand.NotifyCheckpoint(new CheckpointEvent.NodeGone(node, reason)));
        }
    }

    private String lastFailed(String why) {
        return "the checkpoint at its end, after " + step.stepsDone() + " steps, could not be written, and nothing else"
                + " keeps what was learnt since the one before: " + why;
    }

    /**
     * Returns the reason why a failed checkpoint ends the run; empty if the run continues, with a report of the failure.
     */
    Optional<String> failure(RunEvent.CheckpointSettled settled, List<RunCommand> commands) {
        if (!isLast()) {
            settled.failure().ifPresent(
                    why -> commands.add(new RunCommand.ReportCheckpointFailed(step.stepsDone(), why)));
            return Optional.empty();
        }
        return settled.failure().map(this::lastFailed);
    }

    /**
     * Returns whether the update at the end of this pass waits for the checkpoint in progress: it would overwrite a state
     * that the checkpoint needs and no node has pinned yet.
     */
    boolean holdsUpUpdate() {
        return isInProgress(CheckpointWay.DURING_TRAINING) && !isPinned && step.isLastOfPass()
                && inProgress.orElseThrow().stepsDone() < step.stepsDone();
    }

    /** Returns whether the next commit waits for the checkpoint in progress, since another is due at that commit. */
    boolean holdsUpCommit() {
        long next = step.stepsDone() + settings.stepsPerPass();
        return !isLast(next) && isDueBySteps(next)
                && inProgress.filter(attempt -> attempt.stepsDone() != next).isPresent();
    }
}
