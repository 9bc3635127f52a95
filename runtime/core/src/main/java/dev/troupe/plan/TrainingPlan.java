package dev.troupe.plan;

import dev.troupe.config.group.ParallelLayout;
import dev.troupe.engine.DataType;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.StreamSharding;
import dev.troupe.parallel.Zero;
import dev.troupe.partition.Partition;
import dev.troupe.protocol.rank.RunPlan;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.family.ForwardOnly;
import dev.troupe.schedule.lowering.WholeStep;
import dev.troupe.shard.Overlap;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.Replay;
import dev.troupe.stage.ReplayGroups;
import dev.troupe.stage.StageSettings;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The plan of a run: the certified plans of a training step and of a pass over validation data, and the layers of each
 * stage. Immutable.
 *
 * @param ranks the place of each rank; ranks of one pipeline place carry out the same row
 * @param sharding the division of layers, and perhaps of rows of activations, among the ranks of a tensor-parallel group
 * @param zero the state that ranks with the same weights share
 * @param stageSettings sizes and optimizer of every stage; see {@link #stageSettings(int)}
 * @param validation the certified plan of a forward pass over validation data
 */
public record TrainingPlan(ParallelLayout ranks, StreamSharding sharding, Zero zero, Partition partition,
        StageSettings stageSettings, Certificate training, Certificate validation) implements RunPlan {
    /**
     * Plans a run and certifies the plan.
     *
     * @param settings with the microbatches of all pipelines together
     * @param validationMicrobatches microbatches of a pass over validation data in each pipeline, at least 1
     * @throws dev.troupe.schedule.PlanException if the schedule is not defined for these numbers
     * @throws UsageException if the layers cannot be assigned like this
     */
    public static TrainingPlan of(ModelSpec model, StageSettings settings, String layout, Schedule schedule,
            ParallelLayout ranks, StreamSharding sharding, Zero zero, int virtualStages, int validationMicrobatches,
            int creditsPerEdge) {
        int pipeline = ranks.pipeline();
        Plan compute = schedule.plan(pipeline, virtualStages, settings.microbatchesPerStep() / ranks.data());
        Plan forwards = new ForwardOnly(compute.placement()).plan(pipeline, virtualStages, validationMicrobatches);
        Partition partition = partition(model, compute.stageCount(), layout);
        WholeStep step = wholeStep(model, ranks, sharding, zero, settings);
        requireReplays(compute, settings);
        if (settings.addsInTree()) {
            TreeChecks.require(compute);
        }
        Certificate training = PlanValidator.certify(step.training(compute), Purpose.TRAINING, creditsPerEdge);
        return new TrainingPlan(ranks, sharding, zero, partition, settings, training,
                PlanValidator.certify(step.forwards(forwards), Purpose.FORWARD_ONLY, creditsPerEdge));
    }

    /** As above, with every layer divided by the ranks of a tensor-parallel group, and perhaps the rows of activations. */
    public static TrainingPlan of(ModelSpec model, StageSettings settings, String layout, Schedule schedule,
            ParallelLayout ranks, boolean cutsRows, Zero zero, int virtualStages, int validationMicrobatches,
            int creditsPerEdge) {
        return of(model, settings, layout, schedule, ranks, StreamSharding.of(cutsRows), zero, virtualStages,
                validationMicrobatches, creditsPerEdge);
    }

    /** Refuses a plan with RECOMPUTE in a run without recomputation ahead of gradients; such a plan comes from a file. */
    private static void requireReplays(Plan compute, StageSettings settings) {
        boolean replays = compute.rows().stream().flatMap(List::stream)
                .anyMatch(action -> action.kind() == Kind.RECOMPUTE);
        if (replays && settings.replay().ahead() == 0) {
            throw new UsageException(
                    "parallel.schedule: the plan has RECOMPUTE, but the run computes no forward again before"
                            + " its gradient arrives: set training.recompute = full and training.recompute-ahead = all, or take"
                            + " RECOMPUTE out of the plan");
        }
    }

    /** Returns the same run with other blocks replayed. Whether they are replayed ahead of the gradient must not change. */
    public TrainingPlan with(Replay replay) {
        return new TrainingPlan(ranks, sharding, zero, partition, stageSettings.with(replay), training,
                validation);
    }

    /** Returns the kind of action after which a stage has the updated weights, also if its rank updates only a share. */
    public Kind endOfUpdate() {
        return trainsReplicas() || ranks.data() > 1 && zero.includes(Zero.OPTIMIZER) ? Kind.UNSHARD : Kind.UPDATE;
    }

    /** Returns whether each data-parallel rank trains a replica of its own, with an outer step from time to time. */
    public boolean trainsReplicas() {
        return trainsReplicas(stageSettings);
    }

    private static boolean trainsReplicas(StageSettings settings) {
        return settings.optimizer() instanceof Optimizer.DiLoCo;
    }

    /** Returns the settings of a stage, with the copies of weights and gradients that overlapping steps need. */
    public StageSettings stageSettings(int stage) {
        if (!rows().overlap()) {
            return stageSettings;
        }
        return stageSettings.with(new Overlap(training.weights().liveVersions().get(stage),
                Collections.max(training.weights().liveGradients())));
    }

    /** Returns the number of older weight versions that a run holds of each trained parameter. */
    public Map<ParameterSpec, Integer> olderVersions() {
        Map<ParameterSpec, Integer> older = new LinkedHashMap<>();
        for (int stage = 0; stage < partition.stageCount(); stage++) {
            int ofStage = stageSettings(stage).overlap().weightVersions() - 1;
            partition.layers(stage).of(model()).forEach(layer -> layer.parameters().stream()
                    .filter(ParameterSpec::isTrained)
                    .forEach(parameter -> older.merge(parameter, ofStage, Math::max)));
        }
        return older;
    }

    public long olderWeightCount() {
        return olderVersions().entrySet().stream().mapToLong(entry -> entry.getKey().elementCount() * entry.getValue())
                .sum();
    }

    /** Returns the whole step that follows from the grid and from the shared state. */
    private static WholeStep wholeStep(ModelSpec model, ParallelLayout ranks, StreamSharding sharding, Zero zero,
            StageSettings settings) {
        boolean isShared = ranks.data() > 1;
        // Else after each microbatch, or never: replicas keep their gradients, and exchange weights after an update.
        boolean sumsAtTheEnd = isShared && !zero.includes(Zero.GRADIENTS) && !trainsReplicas(settings);
        boolean ofOwnShares = sharding.cutsRows()
                || model.parameters().values().stream().filter(ParameterSpec::isTrained)
                        .anyMatch(ParameterSpec::isForOwnHeads);
        return new WholeStep(settings.replay().ahead() > 0, !model.sharedInTraining().isEmpty(),
                isShared && zero.includes(Zero.WEIGHTS),
                sumsAtTheEnd || ofOwnShares && ranks.tensor() > 1,
                trainsReplicas(settings)
                        || isShared && zero.includes(Zero.OPTIMIZER) && !zero.includes(Zero.WEIGHTS));
    }

    private static Partition partition(ModelSpec model, int stageCount, String layout) {
        try {
            return Partition.of(model, stageCount, layout);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("parallel.layout: " + refused.getMessage(), refused);
        }
    }

    /** Returns the passes that lower a plan of computation only to the whole step. */
    public WholeStep wholeStep() {
        return wholeStep(model(), ranks, sharding, zero, stageSettings);
    }

    public ModelSpec model() {
        return partition.model();
    }

    /** Returns the bytes of an activation between two stages, [N x C], with the rows in which loads of experts travel. */
    public long boundaryBytes(DataType computeType) {
        return boundaryBytes(model(), stageSettings.rows(), computeType);
    }

    /** Returns the bytes of an activation of some rows between two stages. */
    public static long boundaryBytes(ModelSpec model, int rows, DataType computeType) {
        int hidden = model.size(Axis.HIDDEN);
        return (long) (rows + model.balance().map(one -> one.boundaryRows(hidden)).orElse(0)) * hidden
                * computeType.elementBytes();
    }

    /**
     * Returns the bytes that a rank sends in a step to gather the kept inputs of its blocks: (T-1)/T of [N x C] for each and
     * each microbatch of the longest sequences. They are 0 if a rank keeps whole inputs, or if rows are divided anyway.
     */
    public long gatheredInputBytes(int rank, DataType computeType) {
        if (stageSettings.recompute() != Recompute.FULL || !stageSettings.replay().partition() || sharding.cutsRows()) {
            return 0;
        }
        long all = (long) stageSettings.rows() * model().size(Axis.HIDDEN) * computeType.elementBytes();
        long kept = stagesOf(rank).stream().mapToLong(stage -> ReplayGroups.ofSpecs(partition.layers(stage).of(model()),
                Recompute.FULL, stageSettings.replay()).keptInputs()).sum();
        return kept * training.plan().microbatchesPerStep() * (all - all / ranks.tensor()); // exact: T divides the rows
    }

    @Override
    public int ranksPerPlace() {
        return ranks.data() * ranks.tensor();
    }

    /** Returns the ranks of each stage; empty if each stage has one rank. */
    public List<Integer> replicas() {
        return ranks.replicas().stream().anyMatch(count -> count > 1) ? ranks.replicas() : List.of();
    }

    /** Returns the number of contributions to a file of gradients: one for each stage of each rank that writes its share. */
    public int gradientWriters() {
        return IntStream.range(0, ranks.pipeline()).map(ranks::holders).sum() * ranks.tensor()
                * training.plan().virtualStages();
    }

    /**
     * Returns the number in the whole step of a microbatch of a rank's pipeline: data rank d takes d M .. d M + M-1 of the D
     * M. So D pipelines read the same sequences in the same order as one pipeline with D M microbatches. Replicas belong to
     * one pipeline. If one tree adds gradients, and over the ranks after each microbatch, the ranks alternate: then the
     * neighbours in the tree are computed at the same time.
     */
    public int globalMicrobatch(int rank, int microbatch) {
        if (stageSettings.addsInTree() && zero.includes(Zero.GRADIENTS)) {
            return microbatch * ranks.data() + ranks.coordinates(rank).data();
        }
        return !ranks.replicas().isEmpty()
                ? microbatch
                : ranks.coordinates(rank).data() * training.plan().microbatchesPerStep() + microbatch;
    }
}
