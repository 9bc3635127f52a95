package dev.troupe.plan;

import dev.troupe.config.RunSpec;
import dev.troupe.config.spec.OffloadSpec;
import dev.troupe.config.spec.update.OptimizerSpec;
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
        if (run.training().memory().offload().optimizer() == OffloadSpec.Place.DISK) {
            return stored(spec, rule);
        }
        if (!spec.errorFeedback()) {
            return rule;
        }
        requireDelayOfOne(run.parallel().schedule());
        return new Optimizer.ErrorFeedback(rule);
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
