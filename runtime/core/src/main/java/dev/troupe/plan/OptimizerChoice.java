package dev.troupe.plan;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.OffloadSpec;
import dev.troupe.config.spec.update.OptimizerSpec;
import dev.troupe.config.spec.update.ReplicasSpec;
import dev.troupe.model.ModelSpec;
import dev.troupe.offload.StateStore;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.schedule.family.PipeDream2Bw;
import dev.troupe.schedule.family.Schedules;

/** The optimizer of a run, from its configuration. */
public final class OptimizerChoice {
    private static final String WHOLE = "training.optimizer.kind = muon updates whole matrices, but ";

    private OptimizerChoice() {
    }

    /** @throws UsageException if the optimizer does not work with the run's ranks, schedule or adapters */
    public static Optimizer of(RunSpec run, ModelSpec model) {
        OptimizerSpec spec = run.training().update().optimizer();
        Optimizer.AdamW adamW = new Optimizer.AdamW(spec.betas().first(), spec.betas().second(), spec.epsilon(),
                spec.weightDecay());
        Optimizer rule = switch (spec.kind()) {
            case ADAMW -> adamW;
            case SGD -> new Optimizer.Sgd(spec.weightDecay(), spec.momentum(), spec.nesterov());
            case MUON -> {
                requireWholeMatrices(run, model);
                yield new Optimizer.Muon(spec.momentum(), adamW);
            }
        };
        ReplicasSpec replicas = run.training().update().replicas();
        boolean areReplicas = replicas.mode() != ReplicasSpec.Mode.NONE;
        if (areReplicas) {
            requireWholeReplicas(run, model);
        }
        if (run.training().memory().offload().optimizer() == OffloadSpec.Place.DISK) {
            return stored(spec, rule);
        }
        if (spec.errorFeedback()) {
            requireDelayOfOne(run.parallel().schedule());
            return new Optimizer.ErrorFeedback(rule);
        }
        if (!areReplicas) {
            return rule;
        }
        return new Optimizer.DiLoCo(rule, replicas.innerSteps(), replicas.outerLearningRate(),
                replicas.outerMomentum());
    }

    /** Refuses settings under which a data-parallel rank has no model of its own, or no step of its own. */
    private static void requireWholeReplicas(RunSpec run, ModelSpec model) {
        String replicas = "training.replicas.mode = " + run.training().update().replicas().mode().word()
                + " trains a whole model on each data-parallel rank, but ";
        String instead = ", or set training.replicas.mode to none";
        if (run.training().memory().zero() > 0 && run.parallel().data() > 1) {
            throw new UsageException(replicas + "with training.zero = " + run.training().memory().zero()
                    + " these ranks divide its state: set it to 0" + instead);
        }
        if (run.parallel().expert() > 1) {
            throw new UsageException(replicas + "with parallel.expert = " + run.parallel().expert()
                    + " these ranks divide its experts: set it to 1" + instead);
        }
        if (model.balance().filter(one -> one.training().biasUpdateRate() > 0).isPresent()) {
            throw new UsageException(replicas
                    + "the outer rate and momentum have no meaning for the biases that model.bias-update-rate moves: set"
                    + " it to 0" + instead);
        }
        if (run.training().update().roundsGradients()) {
            throw new UsageException(replicas
                    + "training.gradient-exchange = bfloat16 rounds gradients, which replicas do not exchange: set it to"
                    + " float32" + instead);
        }
        if (run.training().memory().offload().optimizer() == OffloadSpec.Place.DISK) {
            throw new UsageException(
                    replicas + "offload.optimizer = disk has no room for the outer state: set it to none"
                            + instead);
        }
        if (Schedules.overlapsSteps(run.parallel().schedule())) {
            throw new UsageException(replicas + "under parallel.schedule = " + run.parallel().schedule()
                    + " the next step reads weights from before the outer step: take a schedule of one step after the"
                    + " other, such as 1f1b" + instead);
        }
    }

    private static Optimizer stored(OptimizerSpec spec, Optimizer rule) {
        if (rule instanceof Optimizer.OfElements each && !spec.errorFeedback() && !each.moments().isEmpty()) {
            return new Optimizer.Stored(each, StateStore.NOTHING);
        }
        throw new UsageException(
                "offload.optimizer = disk needs adamw, or sgd with momentum, without error feedback, but"
                        + " found " + spec.kind().word() + (spec.errorFeedback() ? " with error feedback" : "")
                        + ": set it to none, or change training.optimizer");
    }

    private static void requireDelayOfOne(String schedule) {
        if (!schedule.equals(PipeDream2Bw.NAME)) {
            throw new UsageException(
                    "training.optimizer.error-feedback = true corrects a delay of one update, but under "
                            + schedule + (Schedules.overlapsSteps(schedule)
                                    ? " the age of the gradients of a stage depends on its place"
                                    : " no gradient is delayed")
                            + ": leave it out, or take " + PipeDream2Bw.NAME);
        }
    }

    private static void requireWholeMatrices(RunSpec run, ModelSpec model) {
        if (run.parallel().tensor() > 1) {
            throw new UsageException(WHOLE + "with parallel.tensor = " + run.parallel().tensor()
                    + " each rank has a part of a matrix: set it to 1, or take adamw");
        }
        if (run.training().memory().zero() > 0 && run.parallel().data() > 1) {
            throw new UsageException(WHOLE + "with training.zero = " + run.training().memory().zero()
                    + " each of the " + run.parallel().data()
                    + " data-parallel ranks updates a part of them: set it to 0, or take adamw");
        }
        if (model.lora().isPresent()) {
            throw new UsageException(
                    WHOLE + "with training.lora the matrices are frozen, and adapters alone are trained:"
                            + " take adamw");
        }
    }
}
