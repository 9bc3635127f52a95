package dev.troupe.protocol.run;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * How many steps are committed, and what is known of the one under way: what its ranks measured, how its weights are
 * updated, what its ranks sent. Where the loss is scaled and gradients overflow, the update is one that changes nothing;
 * see {@link LossScale}.
 *
 * <p>Losses are added in the order of microbatches and squared sums in the order of layers, so neither depends on which
 * rank answers first, nor on where a layer lives.
 *
 * <p>Thread rule: none; one caller at a time.
 */
final class StepProgress {
    private final RunSettings settings;
    private final PassMeasures measured = new PassMeasures();
    // With which each step began that the run may have to go back to.
    private final TreeMap<Long, LossScale> scales = new TreeMap<>();
    // What each rank sent in this step; a rank that repeats it sends the same.
    private final Map<Integer, Traffic> traffic = new TreeMap<>();
    private long stepsDone;
    private LossScale lossScale;
    private StepResult result;
    private WeightUpdate update;

    StepProgress(RunSettings settings) {
        this.settings = settings;
        this.stepsDone = settings.firstStep();
        this.lossScale = settings.lossScale();
    }

    /** The run continues from this commit, before which was another where the run can go back to it. */
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

    /** The next step begins. */
    Pass begin() {
        scales.put(stepsDone, lossScale);
        scales.headMap(stepsDone - 1).clear();
        return training();
    }

    private Pass training() {
        return new Pass(stepsDone, Pass.Kind.TRAINING, lossScale.factor());
    }

    /** A rank has done its row. */
    void measure(RunEvent.PassDone done) {
        measured.put(done);
    }

    /** A rank does its row again. */
    void repeat(int rank) {
        measured.remove(rank);
    }

    /** The mean loss of the validation pass that is done. */
    double takeMeanLoss() {
        double loss = measured.meanLoss();
        measured.clear();
        return loss;
    }

    /** Every rank has its gradients: decides how the weights are updated; why training cannot continue where it cannot. */
    Optional<String> decide() {
        StepDecision decision = StepDecision.of(stepsDone, measured, lossScale, settings);
        measured.clear();
        if (decision.failure().isEmpty()) {
            lossScale = decision.lossScale();
            result = decision.result();
            update = decision.update();
        }
        return decision.failure();
    }

    WeightUpdate update() {
        return update;
    }

    /** A rank has updated its weights, and sent this since its update before. */
    void sent(int rank, Traffic sent) {
        traffic.put(rank, sent);
    }

    /** Every rank has updated its weights. */
    RunCommand.CommitStep commitStep() {
        stepsDone++;
        Traffic all = traffic.values().stream().reduce(Traffic.NONE, Traffic::plus);
        traffic.clear();
        return new RunCommand.CommitStep(result.withTraffic(all), new Commit(stepsDone, lossScale));
    }

    boolean canGoBack() {
        return scales.containsKey(stepsDone - 1);
    }

    /** The step before is under way again. */
    Pass goBack() {
        stepsDone--;
        lossScale = scales.get(stepsDone);
        measured.clear();
        traffic.clear();
        return training();
    }
}
