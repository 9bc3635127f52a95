package dev.troupe.plan.prepare;

import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.update.LossScaleSpec;
import dev.troupe.engine.DataType;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.protocol.LossScale;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The state of a checkpoint in addition to its newest weights, and the part of it that a run takes. */
public final class ResumedState {
    private ResumedState() {
    }

    /**
     * Checks that a checkpoint has all the state that a run needs. If it has one weight version and the run needs several,
     * all of them start as this one. If the run needs one, it takes the newest.
     *
     * @return a sentence on each kind of state that the run drops, since its configuration does not use it
     * @throws UsageException if state is missing, or if both have several weight versions and these differ
     */
    public static List<String> check(Checkpoint checkpoint, TrainingPlan plan, TrainingSpec training) {
        requireReplicas(checkpoint, plan.replicas());
        Collection<ParameterSpec> trained = checkpoint.model().parameters().values().stream()
                .filter(ParameterSpec::isTrained).toList();
        List<String> dropped = new ArrayList<>();
        if (plan.rows().overlap()) {
            requireVersions(checkpoint, plan);
        } else if (trained.stream().anyMatch(weight -> checkpoint.olderVersions(weight.name()) > 0)) {
            dropped.add("the versions of the weights before the newest, since the steps of parallel.schedule = "
                    + plan.training().plan().name() + " do not overlap");
        }
        droppedMoments(checkpoint, plan.stageSettings().optimizer(), trained).ifPresent(dropped::add);
        int replicas = plan.trainsReplicas() ? plan.ranks().data() : 1;
        if (checkpoint.replicaCount() > replicas) {
            dropped.add("the weights and the optimizer's state of all replicas but the first " + replicas
                    + ", since training.replicas.mode and parallel.data ask for no more");
        }
        LossScale scale = checkpoint.lossScale();
        if (scale.rule() == LossScale.Rule.DYNAMIC
                && training.update().lossScale().kind() != LossScaleSpec.Kind.DYNAMIC) {
            dropped.add("the loss scale " + scale.factor() + " that it had come to, since training.loss-scale = "
                    + training.update().lossScale().text());
        }
        if (checkpoint.parameterType() == DataType.FLOAT64 && training.precision() != TrainingSpec.Precision.FLOAT64) {
            dropped.add("the digits of its weights beyond float32, since training.precision = "
                    + training.precision().name().toLowerCase(Locale.ROOT));
        }
        return dropped.stream().map(what -> "the run drops of " + checkpoint.directory() + " " + what).toList();
    }

    /** Returns the loss scale: a dynamic one continues from the checkpoint, any other comes from the configuration. */
    public static LossScale lossScale(LossScaleSpec spec, LossScale saved) {
        return switch (spec.kind()) {
            case NONE -> LossScale.none(saved.updates());
            case FIXED -> LossScale.fixed(spec.factor(), saved.updates());
            case DYNAMIC -> saved.rule() == LossScale.Rule.DYNAMIC ? saved : LossScale.dynamic(saved.updates());
        };
    }

    private static Optional<String> droppedMoments(Checkpoint checkpoint, Optimizer optimizer,
            Collection<ParameterSpec> trained) {
        Map<String, Set<String>> found = checkpoint.moments();
        Set<String> left = new TreeSet<>();
        for (ParameterSpec parameter : trained) {
            Set<String> has = found.getOrDefault(parameter.name(), Set.of());
            List<String> needed = optimizer.moments(parameter);
            List<String> missing = needed.stream().filter(moment -> !has.contains(moment)).toList();
            if (!missing.isEmpty()) {
                throw new UsageException(checkpoint.directory() + " has " + (has.isEmpty()
                        ? "no state of an optimizer"
                        : "the optimizer's " + String.join(" and ", new TreeSet<>(has))) + " for " + parameter.name()
                        + ", but the optimizer of the configuration continues from " + String.join(" and ", missing)
                        + ": put training.optimizer (kind, momentum, error-feedback) and training.replicas back to what"
                        + " the run had, or begin a run from its model with model.from");
            }
            has.stream().filter(moment -> !needed.contains(moment)).forEach(left::add);
        }
        return left.isEmpty()
                ? Optional.empty()
                : Optional.of("the optimizer's " + String.join(" and ", left)
                        + ", since the optimizer of the configuration has no use for " + (left.size() == 1
                                ? "it"
                                : "them"));
    }

    private static void requireReplicas(Checkpoint checkpoint, List<Integer> asked) {
        if (!checkpoint.replicas().equals(asked)) {
            throw new UsageException(checkpoint.directory() + " is of a run with " + ranks(checkpoint.replicas())
                    + ", but this one has " + ranks(asked)
                    + ": a stage has as many fewer updates as it has ranks, so resume with parallel.replicas = "
                    + checkpoint.replicas() + " and parallel.schedule as it was");
        }
    }

    private static String ranks(List<Integer> replicas) {
        return replicas.isEmpty() ? "each stage on one rank" : "parallel.replicas = " + replicas;
    }

    private static void requireVersions(Checkpoint checkpoint, TrainingPlan plan) {
        Map<ParameterSpec, Integer> wanted = plan.olderVersions();
        if (wanted.keySet().stream().allMatch(weight -> checkpoint.olderVersions(weight.name()) == 0)) {
            return;
        }
        wanted.forEach((weight, older) -> {
            int found = checkpoint.olderVersions(weight.name());
            if (found != older) {
                throw new UsageException(checkpoint.directory() + " has " + (1 + found) + " versions of "
                        + weight.name()
                        + ", but " + plan.training().plan().name() + " on " + plan.training().plan().rankCount()
                        + " ranks reads " + (1 + older)
                        + ": the delay of a gradient follows from the place of its stage, so"
                        + " resume with parallel.schedule, parallel.pipeline and parallel.layout as they were, or with a"
                        + " schedule of one step after the other, such as 1f1b, which takes the newest weights");
            }
        });
    }
}
