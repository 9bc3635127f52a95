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
 * The committed steps of a run, and the measurements, updates and traffic of the steps in progress. If gradients overflow
 * under a loss scale, the update changes nothing; see {@link LossScale}.
 *
 * <p>A pass has one step, or several if steps overlap. Overlapping steps are decided one after the other. The decisions are
 * kept until the pass is committed, for a rank that repeats its row. A step reads weights that lack the update before it,
 * and uses the loss scale that belongs to those weights.
 *
 * <p>Losses are added in the order of microbatches and squared sums in the order of layers, so the result depends neither on
 * the order of answers nor on the places of layers.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class StepProgress {
    /** The number of updates that the weights of a step lack, if steps overlap. */
    private static final int STALENESS = 1;

    private final RunSettings settings;
    // By step of the pass in progress; for validation, by the last step before it.
    private final Map<Long, PassMeasures> measured = new HashMap<>();
    // The decisions of the pass in progress, by step.
    private final List<StepDecision> decided = new ArrayList<>();
    // The loss scales at the starts of the passes to which the run may go back.
    private final TreeMap<Long, LossScale> scales = new TreeMap<>();
    // The bytes that each rank sent in this pass; a repeated pass has the same.
    private final Map<Integer, Traffic> traffic = new TreeMap<>();
    private long stepsDone;
    private LossScale lossScale;

    StepProgress(RunSettings settings) {
        this.settings = settings;
        this.stepsDone = settings.firstStep();
        this.lossScale = settings.lossScale();
    }

    /** Continues from this commit; the run can go back to {@code before} if it is present. */
    void takeOver(Commit commit, Optional<Commit> before) {
        stepsDone = commit.stepsDone();
        lossScale = commit.lossScale();
        before.ifPresent(earlier -> scales.put(earlier.stepsDone(), earlier.lossScale()));
    }

    long stepsDone() {
        return stepsDone;
    }

    /** Returns the last commit, with the loss scale of its next step. */
    Commit lastCommit() {
        return new Commit(stepsDone, scales.getOrDefault(stepsDone, lossScale));
    }

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
     * Returns the updates that are known when a pass begins, if stages update alone: all but the last. The last update
     * precedes the commit, so it waits for all ranks.
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

    /** Returns the order to update the weights; none if ranks received the update at the start of the pass. */
    List<RunCommand> tell(WeightUpdate update, List<Integer> ranks) {
        return settings.stagesUpdateAlone() && !isLastOfPass(update.step())
                ? List.of()
                : List.of(new RunCommand.Update(update, ranks));
    }

    void measure(RunEvent.PassDone done) {
        of(done.step()).put(done);
    }

    /** Drops the measurements of a rank, which repeats its row. */
    void repeat(int rank) {
        measured.values().forEach(ofStep -> ofStep.remove(rank));
    }

    boolean hasMeasured(int rank, long step) {
        return of(step).has(rank);
    }

    /** Returns whether a rank has measured the first undecided step of a training pass, or a validation pass. */
    boolean hasMeasured(int rank, Pass pass) {
        return of(next(pass)).has(rank);
    }

    boolean isMeasured(Pass pass) {
        return of(next(pass)).rankCount() == settings.rankCount();
    }

    private long next(Pass pass) {
        return pass.kind() == Pass.Kind.TRAINING ? stepsDone + decided.size() : pass.step();
    }

    private PassMeasures of(long step) {
        return measured.computeIfAbsent(step, _ -> new PassMeasures());
    }

    boolean isLastOfPass() {
        return decided.size() == settings.stepsPerPass() - 1;
    }

    boolean isLastOfPass(long step) {
        return step == stepsDone + settings.stepsPerPass() - 1;
    }

    boolean isDecided() {
        return decided.size() == settings.stepsPerPass();
    }

    boolean isDecided(long step) {
        return step < stepsDone + decided.size();
    }

    /** Returns the mean loss of the completed validation pass. */
    double takeMeanLoss() {
        return measured.remove(stepsDone - 1).meanLoss();
    }

    /** Decides the next step, which every rank has measured; returns the reason if training cannot continue. */
    Optional<String> decide() {
        long step = stepsDone + decided.size();
        StepDecision decision = StepDecision.of(step, of(step), factor(), lossScale, settings);
        if (decision.failure().isEmpty()) {
            decided.add(decision);
            lossScale = decision.lossScale();
        }
        return decision.failure();
    }

    /** Returns the loss factor of the next step, which was decided with the weights that it reads. */
    private double factor() {
        int decisions = decided.size() - STALENESS;
        LossScale scale = decisions > 0 ? decided.get(decisions - 1).lossScale() : scales.get(stepsDone);
        return scale.factor();
    }

    WeightUpdate update() {
        return decided.getLast().update();
    }

    WeightUpdate update(long step) {
        return decided.get((int) (step - stepsDone)).update();
    }

    /** Records that a rank has updated its weights, with its traffic since its last update. */
    void sent(int rank, Traffic sent) {
        traffic.put(rank, sent);
    }

    /**
     * Commits the pass, after every rank has updated its weights. Its steps get equal shares of the traffic; the last one
     * has the remainder.
     */
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

    Pass goBack() {
        stepsDone -= settings.stepsPerPass();
        lossScale = scales.get(stepsDone);
        traffic.clear();
        return training();
    }
}
