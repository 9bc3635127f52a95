package dev.troupe.protocol.run;

import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;

/**
 * The logic of a run: its passes, commits, validations, checkpoints and its end. A phase ends when every rank has answered.
 *
 * <pre> STARTING --> TRAINING --> UPDATING --commit--> [VALIDATION] --> [CHECKPOINT] --> TRAINING ... --> OVER
 * </pre>
 *
 * <p>If steps overlap, a pass has several. Each is decided when every rank has measured it, while ranks continue to compute,
 * and the last decision leads to {@code UPDATING}.
 *
 * <p>If ranks fail, an epoch begins ({@link Epochs}): they restart with the weights of the last commit. When every rank is
 * ready, the restarted ranks repeat the work of the phase, and the others continue from their positions. The ranks of a lost
 * node restart on nodes with copies ({@link ReplicaTable}); if copies of the last commit are missing, all ranks go back to
 * the commit before. After the loss of the coordinator, {@link CoordinatorFailover} has the state to continue from. An error
 * that repeats at the same action ends the run ({@link Strikes}). {@link RunCheckpoints} decides when a checkpoint is due,
 * and {@code CheckpointMachine} carries it out.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class RunMachine {
    private final RunSettings settings;
    private final ReplicaTable replicas;
    private final BitSet answered = new BitSet();
    private final StepProgress step;
    private final Epochs epochs;
    private final RunCheckpoints checkpoints;
    private RunPhase phase = RunPhase.STARTING;
    private Pass pass;
    // The failure that ends the run once a checkpoint in progress is settled.
    private String failure;

    public RunMachine(RunSettings settings, ReplicaTable replicas, int term) {
        this.settings = settings;
        this.replicas = replicas;
        this.epochs = new Epochs(settings, term);
        this.step = new StepProgress(settings);
        this.checkpoints = new RunCheckpoints(settings, step, replicas);
    }

    /** Creates the machine of a run that has lost its coordinator; the first call must be {@link #succeed}. */
    public RunMachine(RunSettings settings, ReplicaTable replicas, int term, CoordinatorFailover failover) {
        this(settings, replicas, term);
        this.phase = RunPhase.FAILING_OVER;
        epochs.takeOver(failover.epoch());
        step.takeOver(failover.commit(), failover.before());
    }

    /** Restarts every rank, for this reason, after the nodes have joined with their states. */
    public List<RunCommand> succeed(String reason) {
        List<RunCommand> commands = new ArrayList<>();
        recover(epochs.allRanks(), reason, commands);
        keepCopies(true, commands); // again: what nodes heard as they joined was of the ranks that they had then
        return commands;
    }

    /** Handles one event and returns the commands, in order. */
    public List<RunCommand> on(RunEvent event) {
        List<RunCommand> commands = new ArrayList<>();
        if (epochs.isOfThePast(event)) {
            return commands;
        }
        if (event instanceof RunEvent.NodeLost(String node, String reason)) {
            checkpoints.lose(node, reason, commands);
        }
        if (phase == RunPhase.FAILING && !(event instanceof RunEvent.CheckpointSettled)) {
            return commands;
        }
        switch (event) {
            case RunEvent.EpochReady ready -> onReady(ready, commands);
            case RunEvent.PassDone done -> passDone(done, commands);
            case RunEvent.Updated(var from, long updated, var sent) -> {
                require(phase == RunPhase.UPDATING && updated == stepsDone() && !answered.get(from.rank()), event);
                answered.set(from.rank());
                step.sent(from.rank(), sent);
            }
            case RunEvent.OfCheckpoint report -> {
                require(phase == RunPhase.CHECKPOINT && checkpoints.isInProgress(CheckpointWay.AWAITED), event);
                checkpoints.pass(report, commands);
            }
            case RunEvent.CheckpointPinned(var attempt) -> checkpoints.pinned(attempt);
            case RunEvent.CheckpointSettled settled -> settle(settled, commands);
            case RunEvent.RankFailed failed -> epochs.strike(failed).ifPresentOrElse(why -> fail(why, commands),
                    () -> recover(settings.placeOf(failed.from().rank()), failed.reason(), commands));
            case RunEvent.NodeJoined(String node, var versions) -> {
                replicas.join(node, versions);
                if (phase != RunPhase.STARTING) {
                    commands.add(new RunCommand.NotifyCommit(node, step.lastCommit()));
                }
                keepCopies(replicas.chooseBuddies(), commands);
            }
            case RunEvent.NodeLate(String node, int former) -> outrun(node, former, commands);
            case RunEvent.NodeLost(String node, String reason) -> lose(node, reason, commands);
            case RunEvent.Copied(int rank, String buddy, long steps) -> replicas.copied(rank, buddy, steps);
            case RunEvent.CopiesLate() -> replicas.giveUpCopies(replicas.uncopied(stepsDone()));
            case RunEvent.MessageLost(int _, String reason) -> recover(epochs.restartedForMessage(), reason, commands);
            case RunEvent.CheckpointTimeIsUp() -> checkpoints.timeIsUp();
            case RunEvent.StopRequested() -> checkpoints.endAfterStep();
        }
        // Only when all are ready: their reports are on messages of this pass, and a starting rank must receive its work
        // once.
        while (epochs.isReady() && waits().isOver()) {
            answered.clear();
            phaseDone(commands);
        }
        return commands;
    }

    public long stepsDone() {
        return step.stepsDone();
    }

    /** Returns the current epoch; each recovery begins one. */
    public int epoch() {
        return epochs.present();
    }

    public Incarnation incarnation(int rank) {
        return epochs.last(rank);
    }

    /**
     * Returns the ranks that are not ready in the current epoch; if all are ready, the ranks that have not answered in this
     * phase.
     */
    public List<Integer> missing() {
        return waits().missing();
    }

    /** Returns the ranks without copies of the last commit, for which the next update waits. */
    public List<Integer> awaitsCopiesOf() {
        return waits().copiesOf();
    }

    /** Returns whether the run waits for a checkpoint that is written during training. */
    public boolean waitsForCheckpoint() {
        return waits().isForCheckpoint();
    }

    private RunWaits waits() {
        return new RunWaits(phase, pass, answered, epochs, step, replicas, checkpoints);
    }

    private void keepCopies(boolean areBuddiesNew, List<RunCommand> commands) {
        if (areBuddiesNew) {
            commands.add(new RunCommand.KeepCopies(stepsDone(), replicas.buddies()));
        }
    }

    /** Restarts the ranks of a lost node on nodes with their copies, from the last commit or the one before. */
    private void lose(String node, String reason, List<RunCommand> commands) {
        List<Integer> lost = replicas.lose(node);
        if (lost.isEmpty() || phase == RunPhase.OVER) {
            keepCopies(replicas.chooseBuddies(), commands);
            return;
        }
        OptionalLong steps = replicas.recoverable(lost, stepsDone(), settings.stepsPerPass());
        boolean goesBack = steps.isPresent() && steps.getAsLong() < stepsDone();
        if (!mayRecover()) {
            recover(lost, reason, commands);
        } else if (steps.isEmpty() || goesBack && !step.canGoBack()) {
            fail(reason + ", and no other node has copies of the snapshots of its ranks " + lost, commands);
        } else {
            replicas.move(lost, steps.getAsLong(), epoch() + 1);
            if (goesBack) { // the step before is under way again
                checkpoints.passToAwaited(new CheckpointEvent.Withdrawn(), commands);
                pass = step.goBack();
                phase = RunPhase.TRAINING;
                answered.clear();
            }
            recover(goesBack ? epochs.allRanks() : settings.placesOf(lost), reason, commands);
            keepCopies(replicas.chooseBuddies(), commands);
        }
    }

    private boolean mayRecover() {
        return phase != RunPhase.STARTING && epochs.mayRecover();
    }

    private void recover(List<Integer> ranks, String reason, List<RunCommand> commands) {
        if (!mayRecover()) {
            fail(epochs.failure(reason, stepsDone()), commands);
        } else if (phase != RunPhase.OVER) {
            epochs.countRecovery();
            restart(ranks, reason, commands);
        }
    }

    /** Begins an epoch with a higher number than any that a lost coordinator has begun. */
    private void outrun(String node, int former, List<RunCommand> commands) {
        if (phase != RunPhase.OVER) {
            phase = phase == RunPhase.STARTING ? RunPhase.FAILING_OVER : phase;
            epochs.outrun(former);
            restart(epochs.allRanks(), "node " + node + " was in epoch " + former + " of a lost coordinator", commands);
        }
    }

    private void restart(List<Integer> ranks, String reason, List<RunCommand> commands) {
        epochs.begin(ranks);
        ranks.forEach(step::repeat);
        ranks.forEach(answered::clear);
        commands.add(new RunCommand.EnterEpoch(epoch(), ranks, stepsDone(), reason, replicas.hosts(),
                replicas.since()));
    }

    private void onReady(RunEvent.EpochReady ready, List<RunCommand> commands) {
        if (!epochs.ready(ready, pass)) {
            return;
        }
        switch (phase) {
            case STARTING -> nextStep(commands);
            case FAILING_OVER -> {
                List<Integer> all = epochs.takeUnordered(); // told all at once
                if (stepsDone() == settings.firstStep()) {
                    nextStep(commands);
                } else {
                    committed(commands);
                }
                epochs.repeat(phase == RunPhase.TRAINING || phase == RunPhase.VALIDATION ? all : List.of());
                proceed(commands);
            }
            case TRAINING, UPDATING, VALIDATION, CHECKPOINT -> resume(commands);
            case FAILING, OVER -> {
            }
        }
    }

    /** Starts the pass on the restarted ranks before any message is resent, since the messages belong to the pass. */
    private void resume(List<RunCommand> commands) {
        List<Integer> again = epochs.takeUnordered();
        if (phase != RunPhase.CHECKPOINT && !again.isEmpty()) {
            epochs.repeat(again);
            commands.add(new RunCommand.StartPass(pass, step.updatesAhead(pass), again));
        }
        proceed(commands);
        checkpoints.passToAwaited(new CheckpointEvent.RanksRestarted(again), commands);
    }

    private void proceed(List<RunCommand> commands) {
        // A checkpoint is written between two passes, when no rank waits for a message.
        long passInProgress = phase == RunPhase.CHECKPOINT || phase == RunPhase.OVER ? -1 : pass.number();
        commands.add(epochs.resume(passInProgress));
        if (epochs.hasCaughtUp()) {
            commands.add(new RunCommand.ReportCaughtUp());
        }
    }

    private void passDone(RunEvent.PassDone done, List<RunCommand> commands) {
        int rank = done.from().rank();
        boolean isTraining = done.pass().kind() == Pass.Kind.TRAINING;
        boolean isDecided = isTraining && step.isDecided(done.step());
        boolean isRepeated = epochs.isRepeating(rank);
        if (isRepeated && (!isDecided || step.isLastOfPass(done.step())) && epochs.endsRecovery(rank)) {
            commands.add(new RunCommand.ReportCaughtUp());
        }
        require(!isTraining || done.pass().step() == stepsDone(), done);
        if (isRepeated && isDecided) { // what it measured is in the update already
            commands.addAll(step.tell(step.update(done.step()), List.of(rank)));
        } else {
            require(phase == (isTraining ? RunPhase.TRAINING : RunPhase.VALIDATION) && !isDecided
                    && !step.hasMeasured(rank, done.step()), done);
            step.measure(done);
        }
    }

    private void require(boolean isRight, RunEvent event) {
        if (!isRight) {
            throw new IllegalStateException("the coordinator cannot take " + event + " in phase " + phase + " of step "
                    + stepsDone());
        }
    }

    private void phaseDone(List<RunCommand> commands) {
        switch (phase) {
            case TRAINING -> step.decide().ifPresentOrElse(why -> fail(why, commands), () -> {
                phase = step.isDecided() ? RunPhase.UPDATING : RunPhase.TRAINING;
                commands.addAll(step.tell(step.update(), epochs.allRanks()));
            });
            case UPDATING -> {
                epochs.commit();
                commands.add(step.commitStep());
                if (checkpoints.isDue(CheckpointWay.DURING_TRAINING)) {
                    checkpoints.begin(CheckpointWay.DURING_TRAINING, epoch(), commands);
                }
                committed(commands);
            }
            case VALIDATION -> {
                commands.add(new RunCommand.ReportValidation(stepsDone(), step.takeMeanLoss()));
                checkpointOrNextStep(commands);
            }
            case CHECKPOINT -> nextStep(commands);
            case STARTING, FAILING_OVER, FAILING, OVER ->
                throw new IllegalStateException("nothing is answered while " + phase);
        }
    }

    private void committed(List<RunCommand> commands) {
        if (RunSettings.isDue(settings.validateEvery(), stepsDone())) {
            startPass(RunPhase.VALIDATION, new Pass(stepsDone() - 1, Pass.Kind.VALIDATION), commands);
        } else {
            checkpointOrNextStep(commands);
        }
    }

    private void settle(RunEvent.CheckpointSettled settled, List<RunCommand> commands) {
        checkpoints.settle(settled);
        if (phase == RunPhase.FAILING) {
            end(new RunCommand.Fail(failure), commands);
        } else {
            checkpoints.failure(settled, commands).ifPresent(why -> fail(why, commands));
        }
    }

    /** Ends the run with a failure, after a checkpoint that was already in progress. */
    private void fail(String reason, List<RunCommand> commands) {
        if (phase == RunPhase.OVER) {
            return;
        }
        if (checkpoints.isInProgress(CheckpointWay.DURING_TRAINING)) {
            phase = RunPhase.FAILING;
            failure = reason;
        } else {
            end(new RunCommand.Fail(reason), commands);
        }
    }

    private void end(RunCommand how, List<RunCommand> commands) {
        phase = RunPhase.OVER;
        commands.add(how);
    }

    private void checkpointOrNextStep(List<RunCommand> commands) {
        if (checkpoints.isDue(CheckpointWay.AWAITED)) {
            awaitCheckpoint(commands);
        } else {
            nextStep(commands);
        }
    }

    /** Waits for a checkpoint; the one in progress comes first. */
    private void awaitCheckpoint(List<RunCommand> commands) {
        phase = RunPhase.CHECKPOINT;
        if (!checkpoints.isInProgress()) {
            checkpoints.begin(CheckpointWay.AWAITED, epoch(), commands);
        }
    }

    /**
     * Begins the next step, or ends the run: with a checkpoint if it is to leave one, and never while one is in progress.
     */
    private void nextStep(List<RunCommand> commands) {
        if (!checkpoints.isLast()) {
            startPass(RunPhase.TRAINING, step.begin(), commands);
        } else if (checkpoints.isInProgress() || checkpoints.isWantedAtEnd()) {
            awaitCheckpoint(commands);
        } else {
            end(new RunCommand.Finish(stepsDone()), commands);
        }
    }

    private void startPass(RunPhase next, Pass started, List<RunCommand> commands) {
        phase = next;
        pass = started;
        commands.add(new RunCommand.StartPass(pass, step.updatesAhead(pass), epochs.allRanks()));
    }
}
