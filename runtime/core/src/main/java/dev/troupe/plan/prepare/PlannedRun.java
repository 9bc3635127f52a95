package dev.troupe.plan.prepare;

import dev.troupe.batch.ValidationBatches;
import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.InvariantSpec;
import dev.troupe.config.spec.OffloadSpec;
import dev.troupe.config.spec.ReplaySpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.engine.provider.Capability;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.offload.StateStore;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.DroppedHalves;
import dev.troupe.plan.EmulatedCosts;
import dev.troupe.plan.FaultChecks;
import dev.troupe.plan.OptimizerChoice;
import dev.troupe.plan.RunSchedule;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.memory.AheadBudget;
import dev.troupe.schedule.Schedule;
import dev.troupe.stage.Recompute;
import dev.troupe.stage.Replay;
import dev.troupe.stage.StageSettings;
import dev.troupe.sum.GradientOrder;
import java.util.List;
import java.util.Optional;

/**
 * A run with its certified plan, and the facts that depend only on the plan. Immutable. Thread rule: any thread.
 *
 * @param opened the engine, model and data, with the layout that was cut by costs; closed by their owner
 * @param engine the engine, with the costs of the plan if it computes nothing
 * @param dropped a sentence on each kind of state of its checkpoint that the run drops
 */
public record PlannedRun(OpenedRun opened, TrainingPlan plan, EngineChoice engine, List<String> dropped) {
    public PlannedRun {
        dropped = List.copyOf(dropped);
    }

    /**
     * Plans a run. If the layout is to be cut by costs, that is done first.
     *
     * @throws RuntimeException with a sentence for the user if there is no such plan: see {@link UserErrors}
     */
    public static PlannedRun of(OpenedRun asked) {
        Schedule schedule = schedule(asked);
        OpenedRun opened = asked.cut(schedule);
        RunSpec spec = opened.spec();
        TrainingSpec training = spec.training();
        StartingPoint start = opened.whole().start();
        EngineChoice choice = opened.whole().choice();
        ReplaySpec replay = training.memory().replay();
        StageSettings settings = new StageSettings(training.microbatchSize(), start.sequenceLength(),
                spec.parallel().data() * spec.microbatchCount(), OptimizerChoice.of(spec, start.model()),
                Recompute.valueOf(training.memory().recompute().name()), dropout(training, start.model(), choice),
                opened.data().separatesDocuments())
                .with(new Replay(replay.every(), replay.aheadBlocks(), replay.partition(),
                        training.memory().offload().activations() == OffloadSpec.Place.DISK
                                ? Optional.of(StateStore.NOTHING)
                                : Optional.empty()))
                .with(order(spec, choice));
        TrainingPlan planned = TrainingPlan.of(start.model(), settings, spec.parallel().layout(), schedule,
                spec.parallel().ranks(),
                RunSharding.executed(spec, start.model(), start.sequenceLength()), Zero.of(training.memory().zero()),
                spec.parallel().virtualStages(),
                opened.validation().map(ValidationBatches::microbatchCount).orElse(1), spec.transport().credits());
        TrainingPlan plan = AheadBudget.fit(planned, replay.aheadBytes(),
                () -> choice.withCosts(EmulatedCosts.of(spec.engine().emulated(), planned)).open());
        List<String> dropped = start.check(plan, training);
        new FaultChecks(plan, start.stepsDone(), training.steps(), training.commits().checkpointEvery(),
                spec.recovery().enabled(), opened.request().share().isPresent()).require(spec.faults());
        return new PlannedRun(opened, plan, choice.withCosts(EmulatedCosts.of(spec.engine().emulated(), plan)),
                dropped);
    }

    private static GradientOrder order(RunSpec spec, EngineChoice engine) {
        if (spec.invariant().data()) {
            if (spec.engine().threads() == 0) {
                engine.provider().obstacle(Capability.ANY_THREADS).ifPresent(sentence -> {
                    throw new UsageException(InvariantSpec.KEY
                            + ": engine.threads = 0 divides the cores among the ranks, but " + sentence);
                });
            }
            return GradientOrder.TREE;
        }
        return spec.training().update().roundsGradients() ? GradientOrder.ROUNDED_RANKS : GradientOrder.RANKS;
    }

    private static Schedule schedule(OpenedRun run) {
        RunSpec spec = run.spec();
        TrainingSpec training = spec.training();
        return new RunSchedule(run.whole().start().stepsDone(), training.steps(), run.validateEvery(),
                training.commits().checkpointEvery()).of(spec.parallel(), spec.microbatchCount(), training,
                        !run.model().sharedInTraining().isEmpty());
    }

    private static DropoutSettings dropout(TrainingSpec training, ModelSpec model, EngineChoice engine) {
        requireDropout("training.dropout", training.drop().dropout(), engine);
        requireDropout("training.lora.dropout", training.lora().dropout(), engine);
        return new DropoutSettings(training.drop().dropout(), training.lora().dropout(),
                DroppedHalves.of(training, model),
                training.seed());
    }

    private static void requireDropout(String key, double probability, EngineChoice engine) {
        if (probability > 0) {
            engine.provider().obstacle(Capability.DROPOUT).ifPresent(sentence -> {
                throw new UsageException(key + " = " + probability + ", but " + sentence);
            });
        }
    }

    public RunSpec spec() {
        return opened.spec();
    }

    public ModelSpec model() {
        return opened.model();
    }

    /** Returns the bytes of a checkpoint's tensors under any layout: each weight, its versions, its optimizer state. */
    public long checkpointBytes() {
        return engine.settings().parameterType().elementBytes()
                * (model().parameters().values().stream().filter(ParameterSpec::isTrained).mapToLong(
                        parameter -> parameter.elementCount() * tensorsOf(parameter)).sum() + plan.olderWeightCount());
    }

    /** Returns the number of tensors of a parameter's shape: its weights and moments, some of them of each replica. */
    private long tensorsOf(ParameterSpec parameter) {
        List<String> moments = plan.stageSettings().optimizer().moments(parameter);
        long outer = moments.stream().filter(Optimizer.DiLoCo::isOuter).count();
        int replicas = plan.trainsReplicas() ? plan.ranks().data() : 1;
        return outer + replicas * (1 + moments.size() - outer);
    }

    /** Whether the run ends with trained weights; an experiment or an emulation leaves none. */
    public boolean leavesWeights() {
        return engine.computes() && !opened.request().isExperiment();
    }

    /** Whether a failed rank is restarted; an experiment measures a run without the cost of recovery. */
    public boolean recovers() {
        return leavesWeights() && spec().recovery().enabled();
    }

    /** Whether nodes have copies of each other's snapshots. */
    public boolean keepsCopies() {
        return recovers() && opened.request().share().isPresent()
                && spec().cluster().filter(cluster -> cluster.nodes().size() > 1).isPresent();
    }
}
