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
 * The checkpoints that a run requests, and the events that wait for the one in progress. If ranks keep snapshots, a
 * checkpoint on the way is written during training: one at a time, and the commit at which the next is due by its steps
 * waits for it. One that is due by time waits for the one in progress, and so do the last checkpoint and the end of a run
 * that failed. If no snapshots are kept, ranks write every checkpoint between two steps, and the run waits. The run
 * continues without a checkpoint that cannot be written, except for the last one, which ends the run.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class RunCheckpoints {
    private final RunSettings settings;
    private final StepProgress step;
    private final ReplicaTable replicas;
    private final CheckpointWay onTheWay;
    private Optional<CheckpointAttempt> underWay = Optional.empty();
    /** Whether nodes hold the states that the checkpoint in progress needs. */
    private boolean isPinned;
    private long newest;
    private boolean isTimeUp;
    private boolean isEnding;

    /**
     * @param settings with the steps between two checkpoints, and the newest one that is written already
     * @param replicas with the node of each rank, which holds its snapshot
     */
    RunCheckpoints(RunSettings settings, StepProgress step, ReplicaTable replicas) {
        this.settings = settings;
        this.step = step;
        this.replicas = replicas;
        this.onTheWay = settings.keepsSnapshots() ? CheckpointWay.BESIDE : CheckpointWay.AWAITED;
        this.newest = settings.savedStep();
    }

    /** Requests a checkpoint at the next commit, since the last one is too old. */
    void timeIsUp() {
        isTimeUp = true;
    }

    /** Ends the run after the step in progress; it waits for its last checkpoint. */
    void endAfterStep() {
        isEnding = true;
    }

    /** Returns whether the run ends at the last commit. */
    boolean isLast() {
        return isLast(step.stepsDone());
    }

    private boolean isLast(long stepsDone) {
        return isEnding || stepsDone >= settings.stepCount();
    }

    /** Returns whether a checkpoint of the last commit is to begin in this way while the run continues. */
    boolean isDue(CheckpointWay way) {
        return way == onTheWay && (way == CheckpointWay.AWAITED || !isLast())
                && (isTimeUp || isDueBySteps(step.stepsDone())) && underWay.isEmpty() && newest != step.stepsDone();
    }

    private boolean isDueBySteps(long stepsDone) {
        return RunSettings.isDue(settings.checkpointEvery(), stepsDone);
    }

    /** Returns whether a run that ends at the last commit writes a checkpoint of it. */
    boolean isWantedAtEnd() {
        return settings.endsWithCheckpoint() && newest != step.stepsDone();
    }

    void begin(CheckpointWay way, int epoch, List<RunCommand> commands) {
        Commit commit = step.lastCommit();
        CheckpointAttempt attempt = new CheckpointAttempt(commit.stepsDone(), epoch, way);
        underWay = Optional.of(attempt);
        isTimeUp = false;
        isPinned = false;
        commands.add(new RunCommand.TellCheckpoint(
                new CheckpointEvent.Wanted(attempt, commit.lossScale(), replicas.hosts())));
    }

    /** Takes note that nodes hold the states that a checkpoint needs. */
    void pinned(CheckpointAttempt attempt) {
        isPinned |= underWay.equals(Optional.of(attempt));
    }

    /** Takes note that the checkpoint in progress is complete or deleted. */
    void settle(RunEvent.CheckpointSettled settled) {
        if (!underWay.equals(Optional.of(settled.attempt()))) {
            throw new IllegalStateException(settled + ", but in progress is " + underWay);
        }
        underWay = Optional.empty();
        newest = settled.isWritten() ? settled.attempt().stepsDone() : newest;
    }

    boolean isUnderWay() {
        return underWay.isPresent();
    }

    boolean isUnderWay(CheckpointWay way) {
        return underWay.filter(attempt -> attempt.way() == way).isPresent();
    }

    /** A rank's report of its part of the checkpoint in progress. */
    void tell(RunEvent.OfCheckpoint said, List<RunCommand> commands) {
        commands.add(new RunCommand.TellCheckpoint(switch (said) {
            case RunEvent.CheckpointPartWritten(var from, var part) ->
                new CheckpointEvent.PartWritten(underWay.orElseThrow(), from.rank(), part);
            case RunEvent.CheckpointPartFailed(var from, String why) ->
                new CheckpointEvent.PartFailed(underWay.orElseThrow(), from.rank(), why);
        }));
    }

    /** Passes an event on if the run waits for a checkpoint. */
    void tellAwaited(CheckpointEvent event, List<RunCommand> commands) {
        if (isUnderWay(CheckpointWay.AWAITED)) {
            commands.add(new RunCommand.TellCheckpoint(event));
        }
    }

    /** Takes note that a node has left. */
    void lose(String node, String reason, List<RunCommand> commands) {
        if (isUnderWay(CheckpointWay.BESIDE)) {
            commands.add(new RunCommand.TellCheckpoint(new CheckpointEvent.NodeGone(node, reason)));
        }
    }

    /** The reason why a run without its last checkpoint ends. */
    private String lastFailed(String why) {
        return "the checkpoint at its end, after " + step.stepsDone() + " steps, could not be written, and nothing else"
                + " keeps what was learnt since the one before: " + why;
    }

    /** Returns the reason why a failed checkpoint ends the run; reports a failure after which the run continues. */
    Optional<String> failure(RunEvent.CheckpointSettled settled, List<RunCommand> commands) {
        if (!isLast()) {
            settled.failure().ifPresent(
                    why -> commands.add(new RunCommand.ReportCheckpointFailed(step.stepsDone(), why)));
            return Optional.empty();
        }
        return settled.failure().map(this::lastFailed);
    }

    /**
     * Returns whether the update at the end of this pass waits for the checkpoint in progress, since it would overwrite a
     * state of the checkpoint that a node does not hold yet.
     */
    boolean holdsUpUpdate() {
        return isUnderWay(CheckpointWay.BESIDE) && !isPinned && step.isLastOfPass()
                && underWay.orElseThrow().stepsDone() < step.stepsDone();
    }

    /** Returns whether the next commit waits for the checkpoint in progress, since another is due at it. */
    boolean holdsUpCommit() {
        long next = step.stepsDone() + settings.stepsPerPass();
        return !isLast(next) && isDueBySteps(next)
                && underWay.filter(attempt -> attempt.stepsDone() != next).isPresent();
    }
}
