package dev.troupe.rank.warmup;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.model.LayerSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.step.StageOps;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.rank.pulse.Pulse;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.weights.Progress;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The warm-up of a rank: it runs each kernel that the rank will need once, with its real shape. For one stage of each form
 * it performs the actions of a whole step, with one microbatch for every kind of backward. It has its own engine and stages,
 * and other ranks answer at once, so it does not affect the run's bits. It needs less memory than the run, which has more
 * stages and microbatches at once.
 *
 * <p>Thread rule: one thread; {@link #pulse} and {@link #situation} on any.
 */
public final class KernelWarmUp {
    /** Keeps weights of zero at zero. */
    private static final WeightUpdate NO_UPDATE = new WeightUpdate(0, 0, 1, 1, false);
    /** The update after a step with overflowing gradients. */
    private static final WeightUpdate SKIPPED = new WeightUpdate(0, 0, 0, 1, true);

    private final TrainingPlan plan;
    private final int rank;
    private final boolean validates;
    private final Pulse pulse = new Pulse();
    private volatile String situation = "opening its engine";

    /** @param validates whether the run has validation passes */
    public KernelWarmUp(TrainingPlan plan, int rank, boolean validates) {
        this.plan = plan;
        this.rank = rank;
        this.validates = validates;
    }

    public int rank() {
        return rank;
    }

    public Pulse pulse() {
        return pulse;
    }

    /** Returns the present action as text for a user. */
    public String situation() {
        return situation;
    }

    /** Runs all kernels and frees all memory; an engine's exception is passed on. */
    public void run(Supplier<CheckedEngine> engines) {
        try (CheckedEngine engine = engines.get()) {
            engine.observe(pulse);
            Set<List<Object>> forms = new HashSet<>();
            for (int stage : plan.stagesOf(rank)) {
                if (forms.add(form(stage))) {
                    run(engine, stage);
                }
            }
        }
    }

    /**
     * Checks the weights of this rank's stages that come from files.
     *
     * @param checked the names of tensors that were checked for other ranks; receives the names of this one. Any thread.
     * @throws WeightException if an element is NaN or infinite
     */
    public void requireNumbers(WeightSource weights, DataType type, Set<String> checked) {
        situation = "reading its weights";
        Progress.reportedTo(pulse::beat, () -> {
            for (int stage : plan.stagesOf(rank)) {
                for (LayerSpec layer : plan.partition().layers(stage).of(plan.model())) {
                    layer.parameters().stream().map(ParameterSpec::name).filter(checked::add)
                            .forEach(name -> weights.requireNumbers(name, type));
                }
            }
            return rank;
        });
    }

    /** Returns the form of a stage: stages of one form call the same kernels with the same shapes. */
    private List<Object> form(int stage) {
        int last = plan.partition().stageCount() - 1;
        return List.of(stage == 0, stage == last, plan.partition().layers(stage).size(), kinds(stage));
    }

    /** Returns the kinds of a stage's actions in the rank's row. */
    private Set<Kind> kinds(int stage) {
        Set<Kind> kinds = EnumSet.noneOf(Kind.class);
        for (Action action : plan.row(Pass.Kind.TRAINING, rank).actions()) {
            if (action.stage() == stage) {
                kinds.add(action.kind());
            }
        }
        return kinds;
    }

    private void run(Engine engine, int index) {
        situation = "making stage " + index;
        try (StageAlone alone = new StageAlone(plan, rank, index, engine, WorkClock.NONE)) {
            StageOps ops = alone.ops();
            for (Action action : actions(index)) {
                perform(ops, action, Pass.Kind.TRAINING, NO_UPDATE);
            }
            perform(ops, update(index), Pass.Kind.TRAINING, SKIPPED);
            if (validates) {
                perform(ops, new Action(index, Kind.FORWARD, 0), Pass.Kind.VALIDATION, NO_UPDATE);
            }
        }
    }

    private Action update(int stage) {
        return plan.row(Pass.Kind.TRAINING, rank).actions().stream()
                .filter(action -> action.stage() == stage && action.kind() == Kind.UPDATE).findFirst().orElseThrow();
    }

    private void perform(StageOps ops, Action action, Pass.Kind pass, WeightUpdate update) {
        situation = "in " + action + (pass == Pass.Kind.VALIDATION ? " (validation)" : "");
        ops.perform(action, new Pass(0, pass), Optional.of(update));
    }

    private static List<Action> withReplay(Set<Kind> kinds, Action microbatch, Kind... backwards) {
        List<Action> actions = new ArrayList<>(List.of(microbatch.as(Kind.FORWARD)));
        if (kinds.contains(Kind.RECOMPUTE)) {
            actions.add(microbatch.as(Kind.RECOMPUTE));
        }
        Stream.of(backwards).map(microbatch::as).forEach(actions::add);
        return actions;
    }

    /**
     * Returns the actions of a stage in the rank's row, with one microbatch for each kind of backward. It is the last one,
     * since exchanges may begin with it.
     */
    private List<Action> actions(int stage) {
        Set<Kind> kinds = kinds(stage);
        Action last = plan.lastBackward(rank, stage, 0);
        List<Action> microbatches = new ArrayList<>();
        if (kinds.contains(Kind.FULL_BACKWARD)) {
            microbatches.addAll(withReplay(kinds, last, Kind.FULL_BACKWARD));
        }
        if (kinds.contains(Kind.BACKWARD_INPUT)) {
            microbatches.addAll(last.kind() == Kind.BACKWARD_WEIGHT ? microbatches.size() : 0,
                    withReplay(kinds, last, Kind.BACKWARD_INPUT, Kind.BACKWARD_WEIGHT));
        }
        List<Action> actions = new ArrayList<>();
        Set<Kind> ofWholeStep = EnumSet.noneOf(Kind.class);
        for (Action action : plan.row(Pass.Kind.TRAINING, rank).actions()) {
            if (action.stage() == stage) {
                boolean isFirst = action.kind() == Kind.FORWARD && microbatches.size() > 0;
                if (isFirst) {
                    actions.addAll(microbatches);
                    microbatches.clear();
                } else if (!action.kind().isPerMicrobatch() && ofWholeStep.add(action.kind())) {
                    actions.add(action);
                }
            }
        }
        return actions;
    }
}
