package dev.troupe.machine;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The logic of a run: which pass comes next, when a step is committed, when to look at held-out data, when to write a
 * checkpoint, when to end. Each phase ends when every rank has answered.
 *
 * <pre>
 *   STARTING --> TRAINING --> UPDATING --commit--> [HELD_OUT] --> [CHECKPOINT --> COMMIT] --> TRAINING ... --> OVER
 * </pre>
 *
 * <p>Where the loss is scaled and gradients overflow, the update is one that changes nothing; see {@link LossScale}.
 *
 * <p>Where ranks fail, an epoch begins: they start again with the weights of the last commit, and when every rank stands, they
 * do again what the phase had asked of them, while the others go on from where they are. What a rank says that was restarted
 * meanwhile is not heard.
 *
 * <p>A checkpoint that cannot be written is done without, and the next is tried when it is due; only the last of a run has
 * none after it, and so ends it.
 *
 * <p>Losses are added in the order of microbatches and squared sums in the order of layers, so neither depends on which
 * rank answers first, nor on where a layer lives.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class CoordinatorMachine {
    private enum Phase {
        STARTING, TRAINING, UPDATING, HELD_OUT, CHECKPOINT, COMMIT, OVER
    }

    private final RunOrder order;
    private final Hosting hosting;
    private final List<Integer> allRanks;
    private final BitSet answered = new BitSet();
    private final PassMeasures measured = new PassMeasures();
    private final List<CheckpointPart> parts = new ArrayList<>();
    private final Map<Integer, String> unwritten = new TreeMap<>();
    private final Standings standings = new Standings();
    // The epoch in which each rank was started last.
    private final int[] startedIn;
    // Those that are not told yet what to do again.
    private final BitSet restarted = new BitSet();
    // Those that were, and have not come to the end of the pass.
    private final BitSet repeating = new BitSet();

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
    private long lastCheckpoint;
    private int epoch;
    private int recoveries;

    /** Of a run whose ranks all live on one node. */
    public CoordinatorMachine(RunOrder order) {
        this(order, new Hosting(Collections.nCopies(order.rankCount(), ""), Hosting.Keepers.NONE, order.firstStep()));
    }

    public CoordinatorMachine(RunOrder order, Hosting hosting) {
        this.order = order;
        this.hosting = hosting;
        this.allRanks = IntStream.range(0, order.rankCount()).boxed().toList();
        this.startedIn = new int[order.rankCount()];
        this.lossScale = order.lossScale();
        this.stepsDone = order.firstStep();
        this.lastCheckpoint = order.savedStep();
        standings.begin(order.rankCount());
    }

    /** Takes in one event and returns what is to be done, in order. */
    public List<CoordinatorCommand> on(CoordinatorEvent event) {
        List<CoordinatorCommand> commands = new ArrayList<>();
        switch (event) {
            case CoordinatorEvent.Standing standing when isCurrent(standing.from()) -> stand(standing, commands);
            case CoordinatorEvent.PassDone done when isCurrent(done.from()) -> passDone(done, commands);
            case CoordinatorEvent.Updated(var from, long step, Traffic sent) when isCurrent(from) -> {
                requireThisStep(step, event);
                answer(from.rank(), Phase.UPDATING, event);
                traffic.put(from.rank(), sent);
            }
            case CoordinatorEvent.CheckpointPartWritten(var from, CheckpointPart part) when isCurrent(from) -> {
                answer(from.rank(), Phase.CHECKPOINT, event);
                parts.add(part);
            }
            case CoordinatorEvent.RankFailed(var from, String reason) when isCurrent(from) ->
                recover(order.placeOf(from.rank()), reason, commands);
            case CoordinatorEvent.NodeJoined(String node) -> {
                hosting.join(node);
                keepCopies(commands);
            }
            case CoordinatorEvent.NodeLost(String node, String reason) -> lose(node, reason, commands);
            case CoordinatorEvent.Copied(int rank, String keeper, long steps) -> hosting.copied(rank, keeper, steps);
            case CoordinatorEvent.CopiesLate() -> hosting.giveUpCopies(hosting.uncopied(stepsDone));
            case CoordinatorEvent.MessageLost(int lostIn, String reason) when lostIn == epoch ->
                recover(List.of(), reason, commands);
            case CoordinatorEvent.CheckpointPartFailed(var from, String why) when isCurrent(from) -> {
                answer(from.rank(), Phase.CHECKPOINT, event);
                unwritten.put(from.rank(), why);
            }
            case CoordinatorEvent.CheckpointCommitted() -> {
                requirePhase(phase == Phase.COMMIT, event);
                lastCheckpoint = stepsDone;
                nextStep(commands);
            }
            case CoordinatorEvent.CheckpointFailed(String why) -> {
                requirePhase(phase == Phase.COMMIT || phase == Phase.CHECKPOINT && answered.isEmpty(), event);
                checkpointFailed(why, commands);
            }
            case CoordinatorEvent.StopRequested() -> stopRequested = true;
            case CoordinatorEvent.Standing _,CoordinatorEvent.PassDone _,CoordinatorEvent.Updated _,CoordinatorEvent.CheckpointPartWritten _,CoordinatorEvent.CheckpointPartFailed _,CoordinatorEvent.RankFailed _,CoordinatorEvent.MessageLost _ ->
                {
                } // of a rank that was restarted since, or of a message that is sent again already
        }
        // Not before all stand: what they said they had received is of this pass, and a rank that starts is told once what to do.
        if (answered.cardinality() == order.rankCount() && standings.isComplete() && awaitsCopiesOf().isEmpty()) {
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
        return new Incarnation(rank, startedIn[rank]);
    }

    /** The ranks that do not stand in the present epoch; where all do, those that have not answered in this phase. */
    public List<Integer> missing() {
        return allRanks.stream()
                .filter(rank -> standings.isComplete() ? !answered.get(rank) : standings.awaits(rank)).toList();
    }

    /**
     * Ranks whose copies of the last commit the next update waits for: after it they keep one that comes later, and what was kept
     * two commits ago is not there any more.
     */
    public List<Integer> awaitsCopiesOf() {
        return phase == Phase.TRAINING && answered.cardinality() == order.rankCount()
                ? hosting.uncopied(stepsDone)
                : List.of();
    }

    private boolean isCurrent(Incarnation from) {
        return from.epoch() == startedIn[from.rank()];
    }

    private void keepCopies(List<CoordinatorCommand> commands) {
        if (hosting.chooseKeepers()) {
            commands.add(new CoordinatorCommand.KeepCopies(stepsDone, hosting.keepers()));
        }
    }

    /** The ranks of a node that is lost go on where their copies are, from the last commit or the one before. */
    private void lose(String node, String reason, List<CoordinatorCommand> commands) {
        List<Integer> lost = hosting.lose(node);
        if (lost.isEmpty() || phase == Phase.OVER) {
            keepCopies(commands);
            return;
        }
        OptionalLong steps = hosting.recoverable(lost, stepsDone);
        if (steps.isEmpty() && mayRecover()) {
            fail(reason + ", and no other node has copies of what its ranks, " + lost + ", kept", commands);
            return;
        }
        boolean goesBack = steps.orElse(stepsDone) < stepsDone;
        if (mayRecover()) {
            hosting.move(lost, epoch + 1);
            if (goesBack) {
                goBack(commands);
            }
        }
        recover(goesBack
                ? allRanks
                : lost.stream().flatMap(rank -> order.placeOf(rank).stream()).distinct().sorted().toList(),
                reason, commands);
        keepCopies(commands);
    }

    /** The step before is under way again. */
    private void goBack(List<CoordinatorCommand> commands) {
        if (phase == Phase.CHECKPOINT) {
            commands.add(new CoordinatorCommand.AbandonCheckpoint(stepsDone));
        }
        stepsDone--;
        lossScale = scales.get(stepsDone);
        pass = new Pass(stepsDone, Pass.Kind.TRAINING, lossScale.factor());
        phase = Phase.TRAINING;
        answered.clear();
        measured.clear();
        traffic.clear();
        parts.clear();
        unwritten.clear();
    }

    private boolean mayRecover() {
        return phase != Phase.STARTING && recoveries < order.mostRecoveries();
    }

    private void recover(List<Integer> ranks, String reason, List<CoordinatorCommand> commands) {
        if (phase == Phase.OVER) {
            return;
        }
        if (!mayRecover()) {
            fail(recoveries == 0
                    ? reason
                    : reason + " (after " + recoveries + " recoveries since step " + stepsDone
                            + " began; recovery.most-per-step says how many may be)",
                    commands);
            return;
        }
        recoveries++;
        epoch++;
        standings.begin(order.rankCount());
        for (int rank : ranks) {
            startedIn[rank] = epoch;
            restarted.set(rank);
            repeating.clear(rank);
            measured.remove(rank);
            if (phase != Phase.CHECKPOINT) {
                answered.clear(rank); // a part of a checkpoint stays written
            }
        }
        commands.add(new CoordinatorCommand.EnterEpoch(epoch, ranks, stepsDone, reason, hosting.hosts(),
                hosting.since()));
    }

    private void stand(CoordinatorEvent.Standing standing, List<CoordinatorCommand> commands) {
        if (standing.epoch() != epoch) {
            return; // another has begun since
        }
        boolean isOfThisPass = pass != null && standing.pass() == pass.number();
        if (!standings.stand(standing.from().rank(), isOfThisPass ? standing.received() : List.of())) {
            return;
        }
        if (phase == Phase.STARTING) {
            nextStep(commands);
        } else {
            resume(commands);
        }
    }

    /** The ranks that were restarted are told of the pass first: what they are told to send again is of that pass. */
    private void resume(List<CoordinatorCommand> commands) {
        List<Integer> again = restarted.stream().boxed().toList();
        restarted.clear();
        if (!again.isEmpty()) {
            switch (phase) {
                case TRAINING, UPDATING, HELD_OUT -> {
                    again.forEach(repeating::set);
                    commands.add(new CoordinatorCommand.StartPass(pass, again));
                }
                case CHECKPOINT -> commands.add(new CoordinatorCommand.WriteCheckpoint(stepsDone,
                        again.stream().filter(rank -> !answered.get(rank)).toList()));
                case STARTING, COMMIT, OVER -> throw new IllegalStateException("nothing is recovered while " + phase);
            }
        }
        // A checkpoint is written between two passes, when nobody waits for a message.
        long underWay = phase == Phase.CHECKPOINT ? -1 : pass.number();
        commands.add(new CoordinatorCommand.Resume(epoch, underWay, standings.received()));
        if (repeating.isEmpty()) {
            commands.add(new CoordinatorCommand.ReportCaughtUp());
        }
    }

    private void passDone(CoordinatorEvent.PassDone done, List<CoordinatorCommand> commands) {
        int rank = done.from().rank();
        boolean isRepeated = repeating.get(rank);
        repeating.clear(rank);
        if (isRepeated && repeating.isEmpty() && standings.isComplete()) {
            commands.add(new CoordinatorCommand.ReportCaughtUp());
        }
        if (isRepeated && phase == Phase.UPDATING) { // what it measured is in the update already
            requireThisStep(done.pass().step(), done);
            commands.add(new CoordinatorCommand.Update(update, List.of(rank)));
            return;
        }
        switch (done.pass().kind()) {
            case TRAINING -> {
                requireThisStep(done.pass().step(), done);
                answer(rank, Phase.TRAINING, done);
            }
            case HELD_OUT -> answer(rank, Phase.HELD_OUT, done);
        }
        measured.put(done);
    }

    private void answer(int rank, Phase expected, CoordinatorEvent event) {
        requirePhase(phase == expected && !answered.get(rank), event);
        answered.set(rank);
    }

    private void requirePhase(boolean isRight, CoordinatorEvent event) {
        if (!isRight) {
            throw new IllegalStateException("the coordinator cannot take " + event + " in phase " + phase);
        }
    }

    private void requireThisStep(long step, CoordinatorEvent event) {
        if (step != stepsDone) {
            throw new IllegalStateException("the coordinator cannot take " + event + " in step " + stepsDone);
        }
    }

    private void phaseDone(List<CoordinatorCommand> commands) {
        switch (phase) {
            case TRAINING -> gradientsDone(commands);
            case UPDATING -> {
                stepsDone++;
                recoveries = 0;
                commands.add(new CoordinatorCommand.CommitStep(
                        result.withTraffic(traffic.values().stream().reduce(Traffic.NONE, Traffic::plus))));
                traffic.clear();
                if (isDue(order.heldOutEvery())) {
                    startPass(Phase.HELD_OUT, new Pass(result.step(), Pass.Kind.HELD_OUT), commands);
                } else {
                    checkpointOrNextStep(commands);
                }
            }
            case HELD_OUT -> {
                commands.add(new CoordinatorCommand.ReportHeldOut(stepsDone, measured.meanLoss()));
                measured.clear();
                checkpointOrNextStep(commands);
            }
            case CHECKPOINT -> {
                if (unwritten.isEmpty()) {
                    parts.sort(Comparator.comparing(CheckpointPart::file)); // the same manifest whoever answers first
                    commands.add(new CoordinatorCommand.CommitCheckpoint(stepsDone, lossScale, parts));
                    phase = Phase.COMMIT;
                } else {
                    checkpointFailed(unwritten.values().iterator().next(), commands);
                }
                parts.clear();
                unwritten.clear();
            }
            case STARTING, COMMIT, OVER -> throw new IllegalStateException("nothing is answered while " + phase);
        }
    }

    private void checkpointFailed(String why, List<CoordinatorCommand> commands) {
        commands.add(new CoordinatorCommand.AbandonCheckpoint(stepsDone));
        if (isLast()) {
            fail("the checkpoint at its end, after " + stepsDone
                    + " steps, could not be written, and nothing else keeps"
                    + " what was learnt since the one before: " + why, commands);
        } else {
            commands.add(new CoordinatorCommand.ReportCheckpointFailed(stepsDone, why));
            nextStep(commands);
        }
    }

    private void gradientsDone(List<CoordinatorCommand> commands) {
        StepVerdict verdict = StepVerdict.of(stepsDone, measured, lossScale, order);
        measured.clear();
        if (verdict.failure().isPresent()) {
            fail(verdict.failure().get(), commands);
            return;
        }
        lossScale = verdict.lossScale();
        result = verdict.result();
        update = verdict.update();
        phase = Phase.UPDATING;
        commands.add(new CoordinatorCommand.Update(update, allRanks));
    }

    private void fail(String reason, List<CoordinatorCommand> commands) {
        phase = Phase.OVER;
        commands.add(new CoordinatorCommand.Fail(reason));
    }

    private boolean isDue(long every) {
        return every > 0 && stepsDone % every == 0;
    }

    private boolean isLast() {
        return stopRequested || stepsDone >= order.stepCount();
    }

    private void checkpointOrNextStep(List<CoordinatorCommand> commands) {
        if (isDue(order.checkpointEvery()) && lastCheckpoint != stepsDone) { // it stands where the run went back since
            writeCheckpoint(commands);
        } else {
            nextStep(commands);
        }
    }

    private void writeCheckpoint(List<CoordinatorCommand> commands) {
        phase = Phase.CHECKPOINT;
        commands.add(new CoordinatorCommand.WriteCheckpoint(stepsDone, allRanks));
    }

    /** A run ends with a checkpoint, also one that is stopped before its first step, unless it is to leave none. */
    private void nextStep(List<CoordinatorCommand> commands) {
        if (!isLast()) {
            startPass(Phase.TRAINING, new Pass(stepsDone, Pass.Kind.TRAINING, lossScale.factor()), commands);
        } else if (order.endsWithCheckpoint() && lastCheckpoint != stepsDone) {
            writeCheckpoint(commands);
        } else {
            phase = Phase.OVER;
            commands.add(new CoordinatorCommand.Finish(stepsDone));
        }
    }

    private void startPass(Phase next, Pass started, List<CoordinatorCommand> commands) {
        phase = next;
        pass = started;
        if (next == Phase.TRAINING) {
            scales.put(stepsDone, lossScale);
            scales.headMap(stepsDone - 1).clear();
        }
        commands.add(new CoordinatorCommand.StartPass(pass, allRanks));
    }
}
