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
 * The committed steps, and for the steps in progress the measurements, updates and traffic of ranks. If the loss is scaled
 * and gradients overflow, the update changes nothing; see {@link LossScale}.
 *
 * <p>A pass has one step, or several if steps overlap. These are decided one after the other, and the decisions are kept
 * until the pass is committed, for a rank that repeats its row. A step reads weights that lack the update before it, and
 * uses the loss scale that was current when those weights were made.
 *
 * <p>Losses are added in the order of microbatches and squared sums in the order of layers, so neither depends on the order
 * of answers, nor on the places of layers.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class StepProgress {
    /** The updates between the weights that a step reads and those that it updates, if steps overlap. */
    private static final int STALENESS = 1;

    private final RunSettings settings;
    // By step of the pass in progress; for a pass over validation data by the step that it follows.
    private final Map<Long, PassMeasures> measured = new HashMap<>();
    // Of the pass in progress, by step.
    private final List<StepDecision> decided = new ArrayList<>();
    // The scales at the beginning of the passes to which the run may have to go back.
    private final TreeMap<Long, LossScale> scales = new TreeMap<>();
    // The bytes that each rank sent in this pass; a rank that repeats it sends the same.
    private final Map<Integer, Traffic> traffic = new TreeMap<>();
    private long stepsDone;
    private LossScale lossScale;

    StepProgress(RunSettings settings) {
        this.settings = settings;
        this.stepsDone = settings.firstStep();
        this.lossScale = settings.lossScale();
    }

    /** Continues from this commit, and from the one before it if the run can go back to that. */
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
     * Returns the updates of the steps of a pass that begins, if stages update alone: all but the last, after which is the
     * commit, so that it waits for all ranks. The decision on a later step is whether training can continue.
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

    /** Has ranks update the weights as decided, if they did not receive the update at the beginning of the pass. */
    List<RunCommand> tell(WeightUpdate update, List<Integer> ranks) {
        return settings.stagesUpdateAlone() && !isLastOfPass(update.step())
                ? List.of()
                : List.of(new RunCommand.Update(update, ranks));
    }

    void measure(RunEvent.PassDone done) {
        of(done.step()).put(done);
    }

    /** Has a rank do its row again. */
    void repeat(int rank) {
        measured.values().forEach(ofStep -> ofStep.remove(rank));
    }

    boolean hasMeasured(int rank, long step) {
        return of(step).has(rank);
    }

    /**
     * Returns whether a rank has done a pass over validation data, or the first step of a training pass that is not decided.
     */
    boolean hasMeasured(int rank, Pass pass) {
        return of(next(pass)).has(rank);
    }

    /** Returns whether every rank has. */
    boolean isMeasured(Pass pass) {
        return of(next(pass)).rankCount() == settings.rankCount();
    }

    private long next(Pass pass) {
        return pass.kind() == Pass.Kind.TRAINING ? stepsDone + decided.size() : pass.step();
    }

    private PassMeasures of(long step) {
        return measured.computeIfAbsent(step, _ -> new PassMeasures());
    }

    /** Returns whether the first step that is not decided is the last of its pass. */
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

    /**
     * Decides the update of the next step, of which every rank has its gradients; returns the reason if training cannot
     * continue.
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

    /** The factor of the next step's loss, decided before the weights that it reads were made. */
    private double factor() {
        int decisions = decided.size() - STALENESS;
        LossScale scale = decisions > 0 ? decided.get(decisions - 1).lossScale() : scales.get(stepsDone);
        return scale.factor();
    }

    /** Returns the update of the step that was decided last. */
    WeightUpdate update() {
        return decided.getLast().update();
    }

    WeightUpdate update(long step) {
        return decided.get((int) (step - stepsDone)).update();
    }

    /** Takes note that a rank has updated its weights, with the traffic since its last update. */
    void sent(int rank, Traffic sent) {
        traffic.put(rank, sent);
    }

    /**
     * Commits the pass when every rank has updated its weights. Its steps have equal traffic; the last one has the
     * remainder.
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
