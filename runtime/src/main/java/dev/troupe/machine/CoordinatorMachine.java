package dev.troupe.machine;

import dev.troupe.model.GlobalNorm;
import dev.troupe.model.LayerSquaredSum;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * The logic of a run: which pass comes next, when a step is committed, when to look at held-out data, when to write a
 * checkpoint, when to end. Each phase ends when every rank has answered.
 *
 * <pre>
 *   STARTING --> TRAINING --> UPDATING --commit--> [HELD_OUT] --> [CHECKPOINT] --> TRAINING ... --> CHECKPOINT --> OVER
 * </pre>
 *
 * <p>Where the loss is scaled and gradients overflow, the update is one that changes nothing; see {@link LossScale}.
 *
 * <p>Losses are added in the order of microbatches and squared sums in the order of layers, so neither depends on which
 * rank answers first, nor on where a layer lives.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class CoordinatorMachine {
    private enum Phase {
        STARTING, TRAINING, UPDATING, HELD_OUT, CHECKPOINT, OVER
    }

    private final RunOrder order;
    private final BitSet answered = new BitSet();
    private final List<MicrobatchLoss> losses = new ArrayList<>();
    private final List<LayerSquaredSum> squaredSums = new ArrayList<>();
    private final List<CheckpointPart> parts = new ArrayList<>();

    private LossScale lossScale;
    private Phase phase = Phase.STARTING;
    private long stepsDone;
    private StepResult result;
    private Traffic traffic = Traffic.NONE;
    private boolean stopRequested;
    private long lastCheckpoint;

    public CoordinatorMachine(RunOrder order) {
        this.order = order;
        this.lossScale = order.lossScale();
        this.stepsDone = order.firstStep();
        this.lastCheckpoint = order.savedStep();
    }

    /** Takes in one event and returns what is to be done, in order. */
    public List<CoordinatorCommand> on(CoordinatorEvent event) {
        List<CoordinatorCommand> commands = new ArrayList<>();
        switch (event) {
            case CoordinatorEvent.RankReady(int rank) -> answer(rank, Phase.STARTING, event);
            case CoordinatorEvent.PassDone done -> passDone(done);
            case CoordinatorEvent.Updated(int rank, long step, Traffic sent) -> {
                requireThisStep(step, event);
                answer(rank, Phase.UPDATING, event);
                traffic = traffic.plus(sent);
            }
            case CoordinatorEvent.CheckpointPartWritten(int rank, CheckpointPart part) -> {
                answer(rank, Phase.CHECKPOINT, event);
                parts.add(part);
            }
            case CoordinatorEvent.StopRequested() -> stopRequested = true;
        }
        if (answered.cardinality() == order.rankCount()) {
            answered.clear();
            phaseDone(commands);
        }
        return commands;
    }

    /** How many steps are committed. */
    public long stepsDone() {
        return stepsDone;
    }

    /** The ranks that have not answered in this phase. */
    public List<Integer> missing() {
        List<Integer> missing = new ArrayList<>();
        for (int rank = 0; rank < order.rankCount(); rank++) {
            if (!answered.get(rank)) {
                missing.add(rank);
            }
        }
        return missing;
    }

    private void passDone(CoordinatorEvent.PassDone done) {
        switch (done.pass().kind()) {
            case TRAINING -> {
                requireThisStep(done.pass().step(), done);
                answer(done.rank(), Phase.TRAINING, done);
            }
            case HELD_OUT -> answer(done.rank(), Phase.HELD_OUT, done);
        }
        losses.addAll(done.losses());
        squaredSums.addAll(done.squaredSums());
    }

    private void answer(int rank, Phase expected, CoordinatorEvent event) {
        if (phase != expected || answered.get(rank)) {
            throw new IllegalStateException("the coordinator cannot take " + event + " in phase " + phase);
        }
        answered.set(rank);
    }

    private void requireThisStep(long step, CoordinatorEvent event) {
        if (step != stepsDone) {
            throw new IllegalStateException("the coordinator cannot take " + event + " in step " + stepsDone);
        }
    }

    private void phaseDone(List<CoordinatorCommand> commands) {
        switch (phase) {
            case STARTING -> nextStep(commands);
            case TRAINING -> gradientsDone(commands);
            case UPDATING -> {
                stepsDone++;
                commands.add(new CoordinatorCommand.CommitStep(result.withTraffic(traffic)));
                traffic = Traffic.NONE;
                if (isDue(order.heldOutEvery())) {
                    startPass(Phase.HELD_OUT, new Pass(result.step(), Pass.Kind.HELD_OUT), commands);
                } else {
                    checkpointOrNextStep(commands);
                }
            }
            case HELD_OUT -> {
                commands.add(new CoordinatorCommand.ReportHeldOut(stepsDone, meanLoss()));
                checkpointOrNextStep(commands);
            }
            case CHECKPOINT -> {
                lastCheckpoint = stepsDone;
                parts.sort(Comparator.comparing(CheckpointPart::file)); // the same manifest whoever answers first
                commands.add(new CoordinatorCommand.CommitCheckpoint(stepsDone, lossScale, parts));
                parts.clear();
                nextStep(commands);
            }
            case OVER -> throw new IllegalStateException("the run is over");
        }
    }

    private void gradientsDone(List<CoordinatorCommand> commands) {
        double loss = meanLoss();
        double factor = lossScale.factor();
        double norm = GlobalNorm.of(squaredSums) / factor;
        squaredSums.clear();
        boolean overflowed = !Double.isFinite(norm);
        if (!Double.isFinite(loss) || overflowed && !lossScale.maySkip()) {
            fail("step " + stepsDone + " has a loss of " + loss + " and a gradient norm of " + norm
                    + ", so training cannot go on: lower training.learning-rate.peak, or set training.gradient-clip",
                    commands);
            return;
        }
        lossScale = overflowed ? lossScale.afterSkip() : lossScale.afterUpdate();
        if (lossScale.hasSkippedTooOften()) {
            fail("the gradients of " + lossScale.skipsInRow() + " steps in a row overflowed, of the last, step "
                    + stepsDone + ", with a loss scale of " + factor + ", so training cannot go on: set"
                    + " training.loss-scale to dynamic or a smaller number, or lower training.learning-rate.peak",
                    commands);
            return;
        }
        double learningRate = order.learningRate().applyAsDouble(stepsDone);
        double scale = overflowed ? 0 : GlobalNorm.clipCoefficient(norm, order.gradientClip()) / factor;
        result = new StepResult(stepsDone, loss, norm, learningRate, factor, overflowed, Traffic.NONE);
        phase = Phase.UPDATING;
        commands.add(new CoordinatorCommand.Update(
                new WeightUpdate(stepsDone, learningRate, scale, lossScale.updates(), overflowed)));
    }

    private void fail(String reason, List<CoordinatorCommand> commands) {
        phase = Phase.OVER;
        commands.add(new CoordinatorCommand.Fail(reason));
    }

    private double meanLoss() {
        losses.sort(Comparator.comparingInt(MicrobatchLoss::microbatch));
        double sum = 0;
        for (MicrobatchLoss loss : losses) {
            sum += loss.loss();
        }
        double mean = sum / losses.size();
        losses.clear();
        return mean;
    }

    private boolean isDue(long every) {
        return every > 0 && stepsDone % every == 0;
    }

    private boolean isLast() {
        return stopRequested || stepsDone >= order.stepCount();
    }

    private void checkpointOrNextStep(List<CoordinatorCommand> commands) {
        if (isDue(order.checkpointEvery())) {
            writeCheckpoint(commands);
        } else {
            nextStep(commands);
        }
    }

    private void writeCheckpoint(List<CoordinatorCommand> commands) {
        phase = Phase.CHECKPOINT;
        commands.add(new CoordinatorCommand.WriteCheckpoint(stepsDone));
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

    private void startPass(Phase next, Pass pass, List<CoordinatorCommand> commands) {
        phase = next;
        commands.add(new CoordinatorCommand.StartPass(pass));
    }
}
