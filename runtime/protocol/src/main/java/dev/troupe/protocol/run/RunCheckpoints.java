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
 * When a run wants a checkpoint, and which events wait for the one in progress. Where ranks keep snapshots, a checkpoint
 * on the way is written beside training: one at a time, and the commit at which the next is due by its steps waits for it.
 * One that is due by the time waits for the one in progress. So do the last checkpoint and the end of a run that failed. If
 * no snapshots are kept, ranks write every checkpoint between two steps, and the run waits. The run continues without a
 * checkpoint that cannot be written; only the last has none after it, and so ends the run.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class RunCheckpoints {
    private final RunSettings settings;
    private final StepProgress step;
    private final ReplicaTable replicas;
    private final CheckpointWay onTheWay;
    private Optional<CheckpointAttempt> underWay = Optional.empty();
    /** Whether nodes hold what the one in progress needs. */
    private boolean isPinned;
    private long newest;
    private boolean isTimeUp;
    private boolean isEnding;

    /**
     * @param settings with how many steps lie between two checkpoints, and the newest one that is written already
     * @param replicas with the node of each rank, which has its snapshot
     */
    RunCheckpoints(RunSettings settings, StepProgress step, ReplicaTable replicas) {
        this.settings = settings;
        this.step = step;
        this.replicas = replicas;
        this.onTheWay = settings.keepsSnapshots() ? CheckpointWay.BESIDE : CheckpointWay.AWAITED;
        this.newest = settings.savedStep();
    }

    /** One was written so long ago that the next commit is to have one. */
    void timeIsUp() {
        isTimeUp = true;
    }

    /** The run is to end after the step in progress, and waits for its last checkpoint. */
    void endAfterStep() {
        isEnding = true;
    }

    /** Whether the run ends at the last commit. */
    boolean isLast() {
        return isLast(step.stepsDone());
    }

    private boolean isLast(long stepsDone) {
        return isEnding || stepsDone >= settings.stepCount();
    }

    /** Whether one of the last commit is to be begun in this way, while the run is on its way. */
    boolean isDue(CheckpointWay way) {
        return way == onTheWay && (way == CheckpointWay.AWAITED || !isLast())
                && (isTimeUp || isDueBySteps(step.stepsDone())) && underWay.isEmpty() && newest != step.stepsDone();
    }

    private boolean isDueBySteps(long stepsDone) {
        return RunSettings.isDue(settings.checkpointEvery(), stepsDone);
    }

    /** Whether a run that ends at the last commit wants a checkpoint of it. */
    boolean isWantedAtEnd() {
        return settings.endsWithCheckpoint() && newest != step.stepsDone();
    }

    /** Has one of the last commit begun. */
    void begin(CheckpointWay way, int epoch, List<RunCommand> commands) {
        Commit commit = step.lastCommit();
        CheckpointAttempt attempt = new CheckpointAttempt(commit.stepsDone(), epoch, way);
        underWay = Optional.of(attempt);
        isTimeUp = false;
        isPinned = false;
        commands.add(new RunCommand.TellCheckpoint(
                new CheckpointEvent.Wanted(attempt, commit.lossScale(), replicas.hosts())));
    }

    /** Nodes hold what a checkpoint needs. */
    void pinned(CheckpointAttempt attempt) {
        isPinned |= underWay.equals(Optional.of(attempt));
    }

    /** The one in progress is written, or nothing is left of it. */
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

    /** Passes this on if the run waits for one. */
    void tellAwaited(CheckpointEvent event, List<RunCommand> commands) {
        if (isUnderWay(CheckpointWay.AWAITED)) {
            commands.add(new RunCommand.TellCheckpoint(event));
        }
    }

    /** A node is gone, whatever the run does about it. */
    void lose(String node, String reason, List<RunCommand> commands) {
        if (isUnderWay(CheckpointWay.BESIDE)) {
            commands.add(new RunCommand.TellCheckpoint(new CheckpointEvent.NodeGone(node, reason)));
        }
    }

    /** Why a run ends that cannot have its last one. */
    private String lastFailed(String why) {
        return "the checkpoint at its end, after " + step.stepsDone() + " steps, could not be written, and nothing else"
                + " keeps what was learnt since the one before: " + why;
    }

    /** Returns why the run ends with a checkpoint that failed; reports a failure after which the run continues. */
    Optional<String> failure(RunEvent.CheckpointSettled settled, List<RunCommand> commands) {
        if (!isLast()) {
            settled.failure().ifPresent(
                    why -> commands.add(new RunCommand.ReportCheckpointFailed(step.stepsDone(), why)));
            return Optional.empty();
        }
        return settled.failure().map(this::lastFailed);
    }

    /**
     * Whether the update at the end of this pass waits for the one in progress, since the state that it overwrites is that of
     * the checkpoint, and a node does not hold it yet.
     */
    boolean holdsUpUpdate() {
        return isUnderWay(CheckpointWay.BESIDE) && !isPinned && step.isLastOfPass()
                && underWay.orElseThrow().stepsDone() < step.stepsDone();
    }

    /** Whether the next commit waits for the one in progress, since another is due at it. */
    boolean holdsUpCommit() {
        long next = step.stepsDone() + settings.stepsPerPass();
        return !isLast(next) && isDueBySteps(next)
                && underWay.filter(attempt -> attempt.stepsDone() != next).isPresent();
    }
}
