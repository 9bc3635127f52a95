package dev.troupe.protocol.run;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How many steps are committed, and what is known of those in progress: what ranks measured, how weights are updated, what
 * ranks sent. If the loss is scaled and gradients overflow, the update is one that changes nothing; see
 * {@link LossScale}.
 *
 * <p>A pass has one step, or several where steps overlap. These are decided one after the other, and the decisions are kept
 * until the pass is committed, for a rank that does its row again. A step reads weights that lack the update before it, and
 * uses the loss scale that was current when those weights were made.
 *
 * <p>Losses are added in the order of microbatches and squared sums in the order of layers, so neither depends on which
 * rank answers first, nor on if a layer lives.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class StepProgress {
    /** The updates between the weights that a step reads and those that it updates, where steps overlap. */
    private static final int STALENESS = 1;

    private final RunSettings settings;
    // By step of the pass in progress; those of a pass over validation data by the step that it follows.
    private final Map<Long, PassMeasures> measured = new HashMap<>();
    // Of the pass in progress, by step.
    private final List<StepDecision> decided = new ArrayList<>();
    // With which each pass began that the run may have to go back to.
    private final TreeMap<Long, LossScale> scales = new TreeMap<>();
    // What each rank sent in this pass; a rank that repeats it sends the same.
    private final Map<Integer, Traffic> traffic = new TreeMap<>();
    private long stepsDone;
    private LossScale lossScale;

    StepProgress(RunSettings settings) {
        this.settings = settings;
        this.stepsDone = settings.firstStep();
        this.lossScale = settings.lossScale();
    }

    /** The run continues from this commit, before which was another if the run can go back to it. */
    void takeOver(Commit commit, Optional<Commit> before) {
        stepsDone = commit.stepsDone();
        lossScale = commit.lossScale();
        before.ifPresent(earlier -> scales.put(earlier.stepsDone(), earlier.lossScale()));
    }

    long stepsDone() {
        return stepsDone;
    }

    /** Returns the last commit; the loss scale of a step that is decided belongs to the next one. */
    Commit lastCommit() {
        return new Commit(stepsDone, scales.getOrDefault(stepsDone, lossScale));
    }

    /** The next pass begins. */
    Pass begin() {
        scales.put(stepsDone, lossScale);
        scales.headMap(stepsDone - settings.stepsPerPass()).clear();
        return training();
    }

    private Pass training() {
        measured.clear();
        decided.clear();
        return new Pass(stepsDone, Pass.Kind.TRAINING, lossScale.factor());
    }

    /**
     * How the weights are updated in the steps of a pass that begins, where stages update alone: in all but the last, behind
     * which is the commit, so that it waits for all ranks. The decision of a later step says whether training can continue.
     */
    List<WeightUpdate> updatesAhead(Pass begun) {
        List<WeightUpdate> ahead = new ArrayList<>();
        if (begun.kind() == Pass.Kind.TRAINING && settings.stagesUpdateAlone()) {
            LossScale scale = scales.get(begun.step());
            for (long step = begun.step(); step < begun.step() + settings.stepsPerPass() - 1; step++) {
                scale = scale.afterUpdate();
                ahead.add(new WeightUpdate(step, settings.learningRate().applyAsDouble(step), 1, scale.updates(), false,
                        scale.factor()));
            }
        }
        return ahead;
    }

    /** Has ranks update the weights as was decided, if they were not told at the begin of the pass. */
    List<RunCommand> tell(WeightUpdate update, List<Integer> ranks) {
        return settings.stagesUpdateAlone() && !isLastOfPass(update.step())
                ? List.of()
                : List.of(new RunCommand.Update(update, ranks));
    }

    /** A rank has done a step of its row. */
    void measure(RunEvent.PassDone done) {
        of(done.step()).put(done);
    }

    /** A rank does its row again. */
    void repeat(int rank) {
        measured.values().forEach(ofStep -> ofStep.remove(rank));
    }

    /** Whether a rank has done a step of the pass. */
    boolean hasMeasured(int rank, long step) {
        return of(step).has(rank);
    }

    /** Whether a rank has done a pass over validation data, or of a training pass the first step that is not decided. */
    boolean hasMeasured(int rank, Pass pass) {
        return of(next(pass)).has(rank);
    }

    /** Whether every rank has. */
    boolean isMeasured(Pass pass) {
        return of(next(pass)).rankCount() == settings.rankCount();
    }

    private long next(Pass pass) {
        return pass.kind() == Pass.Kind.TRAINING ? stepsDone + decided.size() : pass.step();
    }

    private PassMeasures of(long step) {
        return measured.computeIfAbsent(step, _ -> new PassMeasures());
    }

    /** Whether the first step that is not decided is the last of its pass. */
    boolean isLastOfPass() {
        return decided.size() == settings.stepsPerPass() - 1;
    }

    /** Whether a step is the last of the pass. */
    boolean isLastOfPass(long step) {
        return step == stepsDone + settings.stepsPerPass() - 1;
    }

    /** Whether every step of the pass is decided. */
    boolean isDecided() {
        return decided.size() == settings.stepsPerPass();
    }

    /** Whether a step of the pass is decided. */
    boolean isDecided(long step) {
        return step < stepsDone + decided.size();
    }

    /** The mean loss of the validation pass that is done. */
    double takeMeanLoss() {
        return measured.remove(stepsDone - 1).meanLoss();
    }

    /**
     * Every rank has its gradients of the next step: decides how the weights are updated; why training cannot continue if
     * it cannot.
     */
    Optional<String> decide() {
        long step = stepsDone + decided.size();
        StepDecision decision = StepDecision.of(step, of(step), factor(), lossScale, settings);
        if (decision.failure().isEmpty()) {
            decided.add(decision);
            lossScale = decision.lossScale();
        }
        return decision.failure();
    }

    /** The factor of the next step's loss: decided before the weights were made that it reads. */
    private double factor() {
        int decisions = decided.size() - STALENESS;
        LossScale scale = decisions > 0 ? decided.get(decisions - 1).lossScale() : scales.get(stepsDone);
        return scale.factor();
    }

    /** How the weights are updated in the step that was decided last. */
    WeightUpdate update() {
        return decided.getLast().update();
    }

    /** How the weights are updated in a step that is decided. */
    WeightUpdate update(long step) {
        return decided.get((int) (step - stepsDone)).update();
    }

    /** A rank has updated its weights, and sent this since its update before. */
    void sent(int rank, Traffic sent) {
        traffic.put(rank, sent);
    }

    /** Every rank has updated its weights. Steps of a pass send the same; the last one has what is left over. */
    RunCommand.CommitStep commitStep() {
        Traffic left = traffic.values().stream().reduce(Traffic.NONE, Traffic::plus);
        Traffic each = left.dividedBy(decided.size());
        List<StepResult> results = new ArrayList<>();
        for (StepDecision decision : decided) {
            boolean isLast = results.size() == decided.size() - 1;
            results.add(decision.result().withTraffic(isLast ? left : each));
            left = left.since(each);
        }
        stepsDone += decided.size();
        traffic.clear();
        measured.clear();
        return new RunCommand.CommitStep(results, new Commit(stepsDone, lossScale));
    }

    boolean canGoBack() {
        return scales.containsKey(stepsDone - settings.stepsPerPass());
    }

    /** The pass before is in progress again. */
    Pass goBack() {
        stepsDone -= settings.stepsPerPass();
        lossScale = scales.get(stepsDone);
        traffic.clear();
        return training();
    }
}
