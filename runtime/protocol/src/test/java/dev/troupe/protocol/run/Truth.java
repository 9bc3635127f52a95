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
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A run on one device: one stage after the other, one microbatch after the other, with no machine, message or collective.
 * Only the order in which a stage adds up its gradients is its rank's. The results of a run of machines must be these, bit
 * for bit, whatever happened on the way.
 */
final class Truth {
    private record Step(StepResult result, List<List<Long>> weights, double validationLoss) {
    }

    private final SimulatedPlan plan;
    private final RunSettings settings;
    // By offset of the ranks at a place, and by stage.
    private final List<List<SimulatedStage>> stages;
    // By stage, its replicas; none if each stage has one rank.
    private final List<List<SimulatedStage>> replicas;
    private final List<List<Long>> firstWeights;
    private final List<Step> steps = new ArrayList<>();
    // Before each pass, and after each step of the one in progress.
    private final List<LossScale> scales = new ArrayList<>();

    Truth(SimulatedPlan plan, RunSettings settings) {
        this.plan = plan;
        this.settings = settings;
        this.stages = IntStream.range(0, plan.ranksPerPlace())
                .mapToObj(offset -> IntStream.range(0, plan.stageCount())
                        .mapToObj(stage -> plan.newStage(stage, plan.tensorOf(offset))).toList())
                .toList();
        this.replicas = !plan.isReplicated()
                ? List.of()
                : IntStream.range(0, plan.stageCount())
                        .mapToObj(stage -> IntStream.range(0, plan.training().plan().replicas(stage))
                                .mapToObj(_ -> plan.newStage(stage, 0)).toList())
                        .toList();
        this.firstWeights = weights();
        LossScale scale = settings.lossScale();
        for (long step = settings.firstStep(); step < settings.stepCount(); step++) {
            if ((step - settings.firstStep()) % settings.stepsPerPass() == 0) {
                scales.clear();
                scales.add(scale);
            }
            scale = plan.isReplicated()
                    ? trainReplicas(step, scale)
                    : train(step, scales.get(Math.max(0, scales.size() - 2)).factor(), scale);
            scales.add(scale);
        }
    }

    private List<SimulatedStage> shares(int data, int stage) {
        return IntStream.range(0, plan.grid().tensor())
                .mapToObj(tensor -> stages.get(data * plan.grid().tensor() + tensor).get(stage)).toList();
    }

    private Stream<SimulatedStage> all() {
        return stages.stream().flatMap(List::stream);
    }

    private void forEachStage(BiConsumer<Integer, SimulatedStage> action) {
        stages.forEach(own -> IntStream.range(0, own.size()).forEach(stage -> action.accept(stage, own.get(stage))));
    }

    private static long sum(List<SimulatedStage> shares, ToLongFunction<SimulatedStage> part) {
        return SimulatedGroups.sum(shares.stream().map(part::applyAsLong).toList());
    }

    /**
     * Does a step; if steps overlap, on weights of the certificate's age.
     *
     * @param lossFactor the factor of its loss
     */
    private LossScale train(long step, double lossFactor, LossScale scale) {
        Pass pass = new Pass(step, Pass.Kind.TRAINING, lossFactor);
        int microbatches = plan.training().plan().microbatchesPerStep();
        forEachStage((number, stage) -> stage.use(plan.training().weights().staleness().get(number), 0));
        double loss = 0;
        for (int data = 0; data < plan.grid().data(); data++) {
            for (int microbatch = 0; microbatch < microbatches; microbatch++) {
                loss += loss(pass, data, microbatch, plan.globalMicrobatch(data, microbatch));
                backward(pass, data, microbatch);
            }
        }
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<SimulatedStage> own = stages.get(rank % plan.ranksPerPlace());
            for (Action action : plan.row(Pass.Kind.TRAINING, rank).actions()) {
                if (action.kind().freesActivation() && plan.rows().stepInRow(Pass.Kind.TRAINING, action) == 0) {
                    own.get(action.stage()).backwardWeight(action.microbatch());
                }
            }
        }
        boolean sumsEnds = plan.training().plan().overlapsSteps() && plan.stageCount() > 1;
        if (sumsEnds) {
            addUpOverPipelines();
        }
        List<Runnable> afterTheNorm = new ArrayList<>();
        if (plan.tied() && plan.stageCount() > 1) {
            for (List<SimulatedStage> own : stages) {
                long first = own.getFirst().tiedGradient();
                own.getFirst().addTied(own.getLast().tiedGradient());
                afterTheNorm.add(() -> own.getLast().addTied(first));
            }
        }
        if (!plan.rows().overlap()) {
            afterTheNorm.forEach(Runnable::run);
            afterTheNorm.clear();
        }
        if (!sumsEnds) {
            addUpOverPipelines();
        }
        List<LayerSquaredSum> sums = new ArrayList<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            List<SimulatedStage> shares = shares(0, stage);
            sums.addAll(shares.getFirst().squaredSums(pass, sum(shares, SimulatedStage::gradient)));
        }
        afterTheNorm.forEach(Runnable::run);
        double norm = GlobalNorm.of(sums) / lossFactor;
        boolean skipped = !Double.isFinite(norm);
        LossScale next = skipped ? scale.afterSkip(lossFactor) : scale.afterUpdate();
        double rate = settings.learningRate().applyAsDouble(step);
        double factor = skipped ? 0 : GlobalNorm.clipCoefficient(norm, settings.gradientClip()) / lossFactor;
        all().forEach(stage -> stage.update(new WeightUpdate(step, rate, factor, next.updates(), skipped)));
        all().forEach(stage -> stage.use(0, 0));
        StepResult result = new StepResult(step, loss / (plan.grid().data() * microbatches), norm, rate, lossFactor,
                skipped, Traffic.NONE);
        steps.add(new Step(result, weights(),
                validationLoss(new Pass(step, Pass.Kind.VALIDATION))));
        return next;
    }

    /** Does a step of one microbatch, on a replica of each stage; stages with a round that it ends add up and update. */
    private LossScale trainReplicas(long step, LossScale scale) {
        Pass pass = new Pass(step, Pass.Kind.TRAINING, 1);
        List<SimulatedStage> own = new ArrayList<>();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            own.add(replicas.get(stage).get((int) (step % replicas.get(stage).size())));
            own.get(stage).use(plan.training().weights().staleness().get(stage), 0);
        }
        long tensor = SimulatedStage.tokens(pass, 0);
        for (SimulatedStage stage : own) {
            tensor = stage.forward(pass, 0, 0, tensor);
            stage.keepOutput(0, tensor);
        }
        double loss = SimulatedStage.loss(tensor);
        long gradient = SimulatedStage.lossGradient(pass, own.getLast().outputOf(0));
        for (SimulatedStage stage : own.reversed()) {
            gradient = stage.backwardInput(0, gradient);
            stage.backwardWeight(0);
        }
        LossScale next = scale.afterUpdate();
        double rate = settings.learningRate().applyAsDouble(step);
        List<LayerSquaredSum> sums = new ArrayList<>();
        for (List<SimulatedStage> copies : replicas) {
            if ((step + 1) % copies.size() == 0) {
                long all = copies.size() == 1 ? copies.getFirst().gradient() : sum(copies, SimulatedStage::gradient);
                copies.forEach(copy -> copy.takeGradient(all));
                sums.addAll(copies.getFirst().squaredSums(pass, all));
                copies.forEach(copy -> copy.update(new WeightUpdate(step, rate, 1, next.updates(), false)));
            }
        }
        replicas.forEach(copies -> copies.forEach(copy -> copy.use(0, 0)));
        steps.add(new Step(new StepResult(step, loss, GlobalNorm.ofSome(sums), rate, 1, false, Traffic.NONE), weights(),
                validationOfReplicas(new Pass(step, Pass.Kind.VALIDATION))));
        return next;
    }

    private double validationOfReplicas(Pass pass) {
        double loss = 0;
        for (int microbatch = 0; microbatch < RunShape.HELD_OUT_MICROBATCHES; microbatch++) {
            long tensor = SimulatedStage.tokens(pass, microbatch);
            for (List<SimulatedStage> copies : replicas) {
                tensor = copies.get(microbatch % copies.size()).forward(pass, microbatch, microbatch, tensor);
            }
            loss += SimulatedStage.loss(tensor);
        }
        return loss / RunShape.HELD_OUT_MICROBATCHES;
    }

    /** Returns the loss of a microbatch of one pipeline, which has another number in the whole step. */
    private double loss(Pass pass, int data, int microbatch, int inStep) {
        long tensor = SimulatedStage.tokens(pass, inStep);
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            List<SimulatedStage> shares = shares(data, stage);
            long input = tensor;
            long output = sum(shares, share -> share.forward(pass, microbatch, microbatch, input));
            shares.forEach(share -> share.keepOutput(microbatch, output));
            tensor = output;
        }
        return SimulatedStage.loss(tensor);
    }

    private void backward(Pass pass, int data, int microbatch) {
        long gradient = SimulatedStage.lossGradient(pass,
                shares(data, plan.stageCount() - 1).getFirst().outputOf(microbatch));
        for (int stage = plan.stageCount() - 1; stage >= 0; stage--) {
            long outputGradient = gradient;
            gradient = sum(shares(data, stage), share -> share.backwardInput(microbatch, outputGradient));
        }
    }

    private void addUpOverPipelines() {
        IntStream.range(0, plan.stageCount()).forEach(this::addUpOverPipelines);
    }

    private void addUpOverPipelines(int stage) {
        for (int tensor = 0; tensor < plan.grid().tensor(); tensor++) {
            int of = tensor;
            List<SimulatedStage> copies = IntStream.range(0, plan.grid().data())
                    .mapToObj(data -> shares(data, stage).get(of)).toList();
            long gradient = sum(copies, SimulatedStage::gradient);
            copies.forEach(copy -> copy.takeGradient(gradient));
        }
    }

    private double validationLoss(Pass pass) {
        return IntStream.range(0, RunShape.HELD_OUT_MICROBATCHES)
                .mapToDouble(microbatch -> loss(pass, 0, microbatch, microbatch)).reduce(0, Double::sum)
                / RunShape.HELD_OUT_MICROBATCHES;
    }

    private List<List<Long>> weights() {
        if (plan.isReplicated()) {
            return List.of(replicas.stream().map(copies -> copies.getFirst().weights()).toList());
        }
        return stages.stream().map(own -> own.stream().map(SimulatedStage::weights).toList()).toList();
    }

    /** Returns the weights of a rank's stage after a number of steps. */
    long weights(int rank, int stage, long stepsDone) {
        return (stepsDone == settings.firstStep() ? firstWeights : step(stepsDone).weights())
                .get(rank % plan.ranksPerPlace()).get(stage);
    }

    private Step step(long stepsDone) {
        return steps.get((int) (stepsDone - 1 - settings.firstStep()));
    }

    /** Returns the content of a rank's checkpoint file after a number of steps. */
    String checksum(int rank, long stepsDone) {
        return plan.stagesOf(rank).stream().map(stage -> weights(rank, stage, stepsDone)).toList().toString();
    }

    void commits(StepResult result) {
        assertEquals(step(result.step() + 1).result(), result.withTraffic(Traffic.NONE), "the step, bit for bit");
    }

    void validates(long stepsDone, double loss) {
        assertEquals(step(stepsDone).validationLoss(), loss, "the validation loss after " + stepsDone + " steps");
    }
}
