package dev.troupe.protocol.run;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import dev.troupe.protocol.checkpoint.CheckpointParts;
import dev.troupe.protocol.checkpoint.CheckpointRule;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The logic of a run: which pass comes next, when a step is committed, when to measure the validation loss, when to write a
 * checkpoint, when to end. Each phase ends when every rank has answered.
 *
 * <pre>
 *   STARTING --> TRAINING --> UPDATING --commit--> [VALIDATION] --> [CHECKPOINT --> COMMIT] --> TRAINING ... --> OVER
 * </pre>
 *
 * <p>Where the loss is scaled and gradients overflow, the update is one that changes nothing; see {@link LossScale}.
 *
 * <p>Where ranks fail, an epoch begins: they start again with the weights of the last commit, and when every rank
 * stands, they do again what the phase had asked of them, while the others go on from where they are. What a rank says
 * that was restarted meanwhile is not heard. Where a node is lost, its ranks start again where {@link ReplicaTable} has
 * their copies; where it lacks those of the last commit, all go back to the one before. Where the coordinator was lost,
 * {@link CoordinatorFailover} says how to go on. An error that strikes again at the same action ends the run: see
 * {@link Strikes}.
 *
 * <p>A checkpoint that cannot be written is done without; only the last of a run has none after it, and so ends it.
 *
 * <p>Losses are added in the order of microbatches and squared sums in the order of layers, so neither depends on which
 * rank answers first, nor on where a layer lives.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class RunMachine {
    private enum Phase {
        STARTING, FAILING_OVER, TRAINING, UPDATING, VALIDATION, CHECKPOINT, COMMIT, OVER
    }

    private final RunSettings settings;
    private final ReplicaTable replicas;
    private final List<Integer> allRanks;
    private final BitSet answered = new BitSet();
    private final PassMeasures measured = new PassMeasures();
    private final CheckpointParts parts = new CheckpointParts();
    private final EpochBarrier epochBarrier = new EpochBarrier();
    private final Restarts restarts;
    private final Strikes strikes = new Strikes();
    private LossScale lossScale;
    // With which each step began that the run may have to go back to.
    private final TreeMap<Long, LossScale> scales = new TreeMap<>();
    private Phase phase = Phase.STARTING;
    private Pass pass;
    private WeightUpdate update;
    private long stepsDone;
    private StepResult result;
    // What each rank sent in this step; a rank that repeats it sends the same.
    private final Map<Integer, Traffic> traffic = new TreeMap<>();
    private boolean stopRequested;
    private final CheckpointRule checkpoints;
    private int epoch;
    private int recoveries;

    public RunMachine(RunSettings settings, ReplicaTable replicas) {
        this.settings = settings;
        this.replicas = replicas;
        this.allRanks = IntStream.range(0, settings.rankCount()).boxed().toList();
        this.restarts = new Restarts(settings.rankCount());
        this.lossScale = settings.lossScale();
        this.stepsDone = settings.firstStep();
        this.checkpoints = new CheckpointRule(settings);
        epochBarrier.begin(settings.rankCount());
    }

    /**
     * Of a run that goes on after its coordinator was lost; its order has the last checkpoint. {@link #succeed} comes
     * first.
     */
    public RunMachine(RunSettings settings, ReplicaTable replicas, CoordinatorFailover failover) {
        this(settings, replicas);
        this.phase = Phase.FAILING_OVER;
        this.epoch = failover.epoch() - 1; // the new one begins with the restart of all
        this.stepsDone = failover.commit().stepsDone();
        this.lossScale = failover.commit().lossScale();
        failover.before().ifPresent(before -> scales.put(before.stepsDone(), before.lossScale()));
    }

    /** Has every rank start again, for this reason, from what nodes have told that they have. */
    public List<RunCommand> succeed(String reason, Map<String, NodeReport> told) {
        replicas.hear(told);
        List<RunCommand> commands = new ArrayList<>();
        recover(allRanks, reason, commands);
        tellBuddies(commands); // again: what nodes heard as they joined was of the ranks that they had then
        return commands;
    }

    /** Takes in one event and returns what is to be done, in order. */
    public List<RunCommand> on(RunEvent event) {
        List<RunCommand> commands = new ArrayList<>();
        if (isOfThePast(event)) {
            return commands;
        }
        switch (event) {
            case RunEvent.EpochReady ready -> stand(ready, commands);
            case RunEvent.PassDone done -> passDone(done, commands);
            case RunEvent.Updated(var from, long step, Traffic sent) -> {
                require(step == stepsDone, event);
                answer(from.rank(), Phase.UPDATING, event);
                traffic.put(from.rank(), sent);
            }
            case RunEvent.CheckpointPartWritten(var from, CheckpointPart part) -> {
                answer(from.rank(), Phase.CHECKPOINT, event);
                parts.add(part);
            }
            case RunEvent.RankFailed failed -> strikes.take(failed).ifPresentOrElse(why -> fail(why, commands),
                    () -> recover(settings.placeOf(failed.from().rank()), failed.reason(), commands));
            case RunEvent.NodeJoined(String node) -> {
                replicas.join(node);
                keepCopies(commands);
            }
            case RunEvent.NodeLost(String node, String reason) -> lose(node, reason, commands);
            case RunEvent.Copied(int rank, String buddy, long steps) -> replicas.copied(rank, buddy, steps);
            case RunEvent.CopiesLate() -> replicas.giveUpCopies(replicas.uncopied(stepsDone));
            // Once more in a step: what was lost may be what a rank said, and only its starting again brings that.
            case RunEvent.MessageLost(int _, String reason) ->
                recover(recoveries > 0 && restarts.hasNoneOf(epoch) ? allRanks : List.of(), reason, commands);
            case RunEvent.CheckpointPartFailed(var from, String why) -> {
                answer(from.rank(), Phase.CHECKPOINT, event);
                parts.fail(from.rank(), why);
            }
            case RunEvent.CheckpointCommitted() -> {
                require(phase == Phase.COMMIT, event);
                checkpoints.stands(stepsDone);
                nextStep(commands);
            }
            case RunEvent.CheckpointFailed(String why) -> {
                require(phase == Phase.COMMIT || phase == Phase.CHECKPOINT && answered.isEmpty(), event);
                checkpointFailed(why, commands);
            }
            case RunEvent.CheckpointTimeIsUp() -> checkpoints.timeIsUp();
            case RunEvent.StopRequested() -> stopRequested = true;
        }
        // Not before all stand: what they said they had received is of this pass, and a rank that starts is told once
        // what to do.
        if (answered.cardinality() == settings.rankCount() && epochBarrier.isComplete() && awaitsCopiesOf().isEmpty()) {
            answered.clear();
            phaseDone(commands);
        }
        return commands;
    }

    /** How many steps are committed. */
    public long stepsDone() {
        return stepsDone;
    }

    /** The present epoch; it began with the last failure. */
    public int epoch() {
        return epoch;
    }

    /** A rank as it was started last. */
    public Incarnation incarnation(int rank) {
        return restarts.last(rank);
    }

    /** The ranks that do not stand in the present epoch; where all do, those that have not answered in this phase. */
    public List<Integer> missing() {
        return allRanks.stream()
                .filter(rank -> epochBarrier.isComplete() ? !answered.get(rank) : epochBarrier.awaits(rank)).toList();
    }

    /** Ranks whose copies of the last commit the next update waits for: after it, what they kept two commits ago is gone. */
    public List<Integer> awaitsCopiesOf() {
        return phase == Phase.TRAINING && answered.cardinality() == settings.rankCount()
                ? replicas.uncopied(stepsDone)
                : List.of();
    }

    /** Of a rank that was restarted since, or of a message that is sent again already. */
    private boolean isOfThePast(RunEvent event) {
        return event instanceof RunEvent.OfRank said && !restarts.isCurrent(said.from())
                || event instanceof RunEvent.MessageLost lost && lost.epoch() != epoch;
    }

    private void keepCopies(List<RunCommand> commands) {
        if (replicas.chooseBuddies()) {
            tellBuddies(commands);
        }
    }

    private void tellBuddies(List<RunCommand> commands) {
        commands.add(new RunCommand.KeepCopies(stepsDone, replicas.buddies()));
    }

    /** The ranks of a node that is lost go on where their copies are, from the last commit or the one before. */
    private void lose(String node, String reason, List<RunCommand> commands) {
        List<Integer> lost = replicas.lose(node);
        if (lost.isEmpty() || phase == Phase.OVER) {
            keepCopies(commands);
            return;
        }
        OptionalLong steps = replicas.recoverable(lost, stepsDone);
        boolean goesBack = steps.isPresent() && steps.getAsLong() < stepsDone;
        if (!mayRecover()) {
            recover(lost, reason, commands);
        } else if (steps.isEmpty() || goesBack && !scales.containsKey(stepsDone - 1)) {
            fail(reason + ", and no other node has copies of what its ranks, " + lost + ", kept", commands);
        } else {
            replicas.move(lost, steps.getAsLong(), epoch + 1);
            if (goesBack) {
                goBack(commands);
            }
            recover(goesBack ? allRanks : settings.placesOf(lost), reason, commands);
            keepCopies(commands);
        }
    }

    /** The step before is under way again. */
    private void goBack(List<RunCommand> commands) {
        if (phase == Phase.CHECKPOINT) {
            commands.add(new RunCommand.AbandonCheckpoint(stepsDone));
        }
        stepsDone--;
        lossScale = scales.get(stepsDone);
        pass = new Pass(stepsDone, Pass.Kind.TRAINING, lossScale.factor());
        phase = Phase.TRAINING;
        answered.clear();
        measured.clear();
        traffic.clear();
        parts.clear();
    }

    private boolean mayRecover() {
        return phase != Phase.STARTING && recoveries < settings.mostRecoveries();
    }

    private void recover(List<Integer> ranks, String reason, List<RunCommand> commands) {
        if (phase == Phase.OVER) {
            return;
        }
        if (!mayRecover()) {
            fail(reason + (recoveries == 0
                    ? ""
                    : " (after " + recoveries + " recoveries since step " + stepsDone
                            + " began; recovery.most-per-step says how many may be)"),
                    commands);
            return;
        }
        recoveries++;
        epoch++;
        epochBarrier.begin(settings.rankCount());
        for (int rank : ranks) {
            restarts.restart(rank, epoch);
            measured.remove(rank);
            if (phase != Phase.CHECKPOINT) {
                answered.clear(rank); // a part of a checkpoint stays written
            }
        }
        commands.add(new RunCommand.EnterEpoch(epoch, ranks, stepsDone, reason, replicas.hosts(),
                replicas.since()));
    }

    private void stand(RunEvent.EpochReady ready, List<RunCommand> commands) {
        if (ready.epoch() != epoch) {
            return; // another has begun since
        }
        boolean isOfThisPass = pass != null && ready.pass() == pass.number();
        if (!epochBarrier.stand(ready.from().rank(), isOfThisPass ? ready.received() : MessageKeys.NONE)) {
            return;
        }
        switch (phase) {
            case STARTING -> nextStep(commands);
            case FAILING_OVER -> {
                List<Integer> all = restarts.takeUntold(); // told all at once
                if (stepsDone == settings.firstStep()) {
                    nextStep(commands);
                } else {
                    committed(commands);
                }
                restarts.repeat(phase == Phase.TRAINING || phase == Phase.VALIDATION ? all : List.of());
                goOn(commands);
            }
            case TRAINING, UPDATING, VALIDATION, CHECKPOINT, COMMIT, OVER -> resume(commands);
        }
    }

    /** The ranks that were restarted are told of the pass first: what they are told to send again is of that pass. */
    private void resume(List<RunCommand> commands) {
        List<Integer> again = restarts.takeUntold();
        if (!again.isEmpty()) {
            switch (phase) {
                case TRAINING, UPDATING, VALIDATION -> {
                    restarts.repeat(again);
                    commands.add(new RunCommand.StartPass(pass, again));
                }
                case CHECKPOINT -> commands.add(new RunCommand.WriteCheckpoint(stepsDone,
                        again.stream().filter(rank -> !answered.get(rank)).toList()));
                case STARTING, FAILING_OVER, COMMIT, OVER ->
                    throw new IllegalStateException("nothing is recovered while " + phase);
            }
        }
        goOn(commands);
    }

    private void goOn(List<RunCommand> commands) {
        // A checkpoint is written between two passes, when nobody waits for a message.
        long underWay = phase == Phase.CHECKPOINT || phase == Phase.OVER ? -1 : pass.number();
        commands.add(new RunCommand.Resume(epoch, underWay, epochBarrier.received()));
        if (restarts.isDone()) {
            commands.add(new RunCommand.ReportCaughtUp());
        }
    }

    private void passDone(RunEvent.PassDone done, List<RunCommand> commands) {
        int rank = done.from().rank();
        boolean isRepeated = restarts.isRepeating(rank);
        restarts.hasRepeated(rank);
        if (isRepeated && restarts.isDone() && epochBarrier.isComplete()) {
            commands.add(new RunCommand.ReportCaughtUp());
        }
        if (isRepeated && phase == Phase.UPDATING) { // what it measured is in the update already
            require(done.pass().step() == stepsDone, done);
            commands.add(new RunCommand.Update(update, List.of(rank)));
            return;
        }
        boolean isTraining = done.pass().kind() == Pass.Kind.TRAINING;
        require(!isTraining || done.pass().step() == stepsDone, done);
        answer(rank, isTraining ? Phase.TRAINING : Phase.VALIDATION, done);
        measured.put(done);
    }

    private void answer(int rank, Phase expected, RunEvent event) {
        require(phase == expected && !answered.get(rank), event);
        answered.set(rank);
    }

    private void require(boolean isRight, RunEvent event) {
        if (!isRight) {
            throw new IllegalStateException("the coordinator cannot take " + event + " in phase " + phase + " of step "
                    + stepsDone);
        }
    }

    private void phaseDone(List<RunCommand> commands) {
        switch (phase) {
            case TRAINING -> gradientsDone(commands);
            case UPDATING -> {
                stepsDone++;
                recoveries = 0;
                strikes.clear();
                commands.add(new RunCommand.CommitStep(
                        result.withTraffic(traffic.values().stream().reduce(Traffic.NONE, Traffic::plus)),
                        new Commit(stepsDone, lossScale)));
                traffic.clear();
                committed(commands);
            }
            case VALIDATION -> {
                commands.add(new RunCommand.ReportValidation(stepsDone, measured.meanLoss()));
                measured.clear();
                checkpointOrNextStep(commands);
            }
            case CHECKPOINT -> {
                if (parts.failure().isEmpty()) {
                    commands.add(new RunCommand.CommitCheckpoint(stepsDone, lossScale, parts.inOrder()));
                    phase = Phase.COMMIT;
                } else {
                    checkpointFailed(parts.failure().get(), commands);
                }
                parts.clear();
            }
            case STARTING, FAILING_OVER, COMMIT, OVER ->
                throw new IllegalStateException("nothing is answered while " + phase);
        }
    }

    private void committed(List<RunCommand> commands) {
        if (RunSettings.isDue(settings.validateEvery(), stepsDone)) {
            startPass(Phase.VALIDATION, new Pass(stepsDone - 1, Pass.Kind.VALIDATION), commands);
        } else {
            checkpointOrNextStep(commands);
        }
    }

    private void checkpointFailed(String why, List<RunCommand> commands) {
        commands.add(new RunCommand.AbandonCheckpoint(stepsDone));
        if (isLast()) {
            fail("the checkpoint at its end, after " + stepsDone + " steps, could not be written, and nothing else"
                    + " keeps what was learnt since the one before: " + why, commands);
        } else {
            commands.add(new RunCommand.ReportCheckpointFailed(stepsDone, why));
            nextStep(commands);
        }
    }

    private void gradientsDone(List<RunCommand> commands) {
        StepDecision decision = StepDecision.of(stepsDone, measured, lossScale, settings);
        measured.clear();
        if (decision.failure().isPresent()) {
            fail(decision.failure().get(), commands);
            return;
        }
        lossScale = decision.lossScale();
        result = decision.result();
        update = decision.update();
        phase = Phase.UPDATING;
        commands.add(new RunCommand.Update(update, allRanks));
    }

    private void fail(String reason, List<RunCommand> commands) {
        if (phase != Phase.OVER) {
            phase = Phase.OVER;
            commands.add(new RunCommand.Fail(reason));
        }
    }

    private boolean isLast() {
        return stopRequested || stepsDone >= settings.stepCount();
    }

    private void checkpointOrNextStep(List<RunCommand> commands) {
        if (checkpoints.takeDue(stepsDone)) {
            writeCheckpoint(commands);
        } else {
            nextStep(commands);
        }
    }

    private void writeCheckpoint(List<RunCommand> commands) {
        phase = Phase.CHECKPOINT;
        commands.add(new RunCommand.WriteCheckpoint(stepsDone, allRanks));
    }

    /** A run ends with a checkpoint, also one that is stopped before its first step, unless it is to leave none. */
    private void nextStep(List<RunCommand> commands) {
        if (!isLast()) {
            startPass(Phase.TRAINING, new Pass(stepsDone, Pass.Kind.TRAINING, lossScale.factor()), commands);
        } else if (settings.endsWithCheckpoint() && !checkpoints.has(stepsDone)) {
            writeCheckpoint(commands);
        } else {
            phase = Phase.OVER;
            commands.add(new RunCommand.Finish(stepsDone));
        }
    }

    private void startPass(Phase next, Pass started, List<RunCommand> commands) {
        phase = next;
        pass = started;
        if (next == Phase.TRAINING) {
            scales.put(stepsDone, lossScale);
            scales.headMap(stepsDone - 1).clear();
        }
        commands.add(new RunCommand.StartPass(pass, allRanks));
    }
}
