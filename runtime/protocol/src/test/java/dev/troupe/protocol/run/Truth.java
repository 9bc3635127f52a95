package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.schedule.Action;
import java.util.ArrayList;
import java.util.List;

/**
 * A run on one device: one stage after the other, one microbatch after the other, with no machine and no message. Only the
 * order in which a stage adds up its gradients is its rank's. What a run of machines comes to must be this, bit for bit,
 * whatever happened on the way.
 */
final class Truth {
    private record Step(StepResult result, List<Long> weights, double validationLoss) {
    }

    private final SimulatedPlan plan;
    private final RunSettings settings;
    private final List<SimulatedStage> stages = new ArrayList<>();
    private final List<Long> firstWeights;
    private final List<Step> steps = new ArrayList<>();

    Truth(SimulatedPlan plan, RunSettings settings) {
        this.plan = plan;
        this.settings = settings;
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            stages.add(plan.newStage(stage));
        }
        this.firstWeights = weights();
        LossScale scale = settings.lossScale();
        for (long step = settings.firstStep(); step < settings.stepCount(); step++) {
            scale = train(step, scale);
        }
    }

    private LossScale train(long step, LossScale scale) {
        Pass pass = new Pass(step, Pass.Kind.TRAINING, scale.factor());
        int microbatches = plan.training().plan().microbatchCount();
        double loss = meanLoss(pass, microbatches);
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            long gradient = SimulatedStage.lossGradient(pass, stages.getLast().outputOf(microbatch));
            for (SimulatedStage stage : stages.reversed()) {
                gradient = stage.backwardInput(microbatch, gradient);
            }
        }
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            for (Action action : plan.row(Pass.Kind.TRAINING, rank).actions()) {
                if (action.kind().freesActivation()) {
                    stages.get(action.stage()).backwardWeight(action.microbatch());
                }
            }
        }
        if (plan.tied() && stages.size() > 1) {
            long first = stages.getFirst().tiedGradient();
            stages.getFirst().addTied(stages.getLast().tiedGradient());
            stages.getLast().addTied(first);
        }
        List<LayerSquaredSum> sums = stages.stream().flatMap(stage -> stage.squaredSums(pass).stream()).toList();
        double norm = GlobalNorm.of(sums) / scale.factor();
        boolean skipped = !Double.isFinite(norm);
        LossScale next = skipped ? scale.afterSkip() : scale.afterUpdate();
        double rate = settings.learningRate().applyAsDouble(step);
        double factor = skipped ? 0 : GlobalNorm.clipCoefficient(norm, settings.gradientClip()) / scale.factor();
        stages.forEach(stage -> stage.update(new WeightUpdate(step, rate, factor, next.updates(), skipped)));
        StepResult result = new StepResult(step, loss, norm, rate, scale.factor(), skipped, Traffic.NONE);
        steps.add(new Step(result, weights(),
                meanLoss(new Pass(step, Pass.Kind.VALIDATION), RunShape.HELD_OUT_MICROBATCHES)));
        return next;
    }

    private double meanLoss(Pass pass, int microbatches) {
        double sum = 0;
        for (int microbatch = 0; microbatch < microbatches; microbatch++) {
            long tensor = SimulatedStage.tokens(pass, microbatch);
            for (SimulatedStage stage : stages) {
                tensor = stage.forward(pass, microbatch, tensor);
            }
            sum += SimulatedStage.loss(tensor);
        }
        return sum / microbatches;
    }

    private List<Long> weights() {
        return stages.stream().map(SimulatedStage::weights).toList();
    }

    /** The weights of a stage after so many steps. */
    long weights(int stage, long stepsDone) {
        return stepsDone == settings.firstStep() ? firstWeights.get(stage) : step(stepsDone).weights().get(stage);
    }

    private Step step(long stepsDone) {
        return steps.get((int) (stepsDone - 1 - settings.firstStep()));
    }

    /** What a rank's file holds after so many steps. */
    String checksum(int rank, long stepsDone) {
        return plan.stagesOf(rank).stream().map(stage -> weights(stage, stepsDone)).toList().toString();
    }

    void commits(StepResult result) {
        assertEquals(step(result.step() + 1).result(), result.withTraffic(Traffic.NONE), "the step, bit for bit");
    }

    void validates(long stepsDone, double loss) {
        assertEquals(step(stepsDone).validationLoss(), loss, "the validation loss after " + stepsDone + " steps");
    }
}
