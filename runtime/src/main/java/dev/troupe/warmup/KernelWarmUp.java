package dev.troupe.warmup;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.EngineGroup;
import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.machine.Pass;
import dev.troupe.model.Stage;
import dev.troupe.model.TiedEnd;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.pulse.Pulse;
import dev.troupe.pulse.WatchedEngine;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Runs each kind of kernel that a rank will need, once, at its real shape: a forward and every kind of backward that
 * its row has, for one microbatch of one stage of each form, a forward for validation, the norm, and the update. It has
 * an engine and stages of its own, with zeros for weights and other ranks that answer at once, so nothing of it is
 * left: neither in a bit of the run nor in memory. It takes less of that than the run, which holds all stages and more
 * microbatches.
 *
 * <p>Thread rule: one thread, but for {@link #pulse} and {@link #situation}, which any thread may ask.
 */
public final class KernelWarmUp {
    private final TrainingPlan plan;
    private final int rank;
    private final boolean validates;
    private final Pulse pulse = new Pulse();
    private volatile String situation = "opening its engine";

    /**
     * @param validates
     *            whether the run makes passes for validation
     */
    public KernelWarmUp(TrainingPlan plan, int rank, boolean validates) {
        this.plan = plan;
        this.rank = rank;
        this.validates = validates;
    }

    public int rank() {
        return rank;
    }

    /** Beats with every kernel that ends. */
    public Pulse pulse() {
        return pulse;
    }

    /** What it does, for a person. */
    public String situation() {
        return situation;
    }

    /** Runs them all; what an engine throws is thrown, and all memory is given back. */
    public void run(Supplier<Engine> engines) {
        try (Engine engine = new WatchedEngine(engines.get(), pulse)) {
            Set<List<Object>> forms = new HashSet<>();
            for (int stage : plan.stagesOf(rank)) {
                if (forms.add(form(stage))) {
                    run(engine, stage);
                }
            }
        }
    }

    /** Stages of one form call the same kernels with the same shapes. */
    private List<Object> form(int stage) {
        int last = plan.partition().stageCount() - 1;
        return List.of(stage == 0, stage == last, plan.partition().layers(stage).size(), kinds(stage));
    }

    /** What the rank's row has of a stage. */
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
        WarmUpGroups groups = new WarmUpGroups(plan.ranks());
        Optional<CollectiveGroup> tensor = groups.join(GroupKind.TENSOR, rank, 0);
        Optional<CollectiveGroup> data = groups.join(GroupKind.DATA, rank, 0);
        TensorShare share = tensor.map(group -> new TensorShare(new EngineGroup(group, engine), plan.sharesSequence()))
                .orElse(TensorShare.ALL);
        DataShare dataShare = data
                .map(group -> new DataShare(new EngineGroup(group, engine), plan.zero(), Runnable::run))
                .orElse(DataShare.ALL);
        try (Stage stage = Stage.create(engine, plan.partition(), index, plan.stageSettings(), share, dataShare,
                (_, _, _, _) -> {
                    // Zeros do: how long a kernel takes, and whether it can run, does not depend on what it reads.
                })) {
            Set<Kind> kinds = kinds(index);
            List<Boolean> splits = new ArrayList<>();
            if (kinds.contains(Kind.FULL_BACKWARD)) {
                splits.add(false);
            }
            if (kinds.contains(Kind.BACKWARD_INPUT)) {
                splits.add(true);
            }
            for (boolean isSplit : splits) {
                train(stage, isSplit, isSplit == splits.getLast());
            }
            if (validates) {
                situation = "in the forward of stage " + index + " for validation";
                release(stage, stage.forwardOnly(0, input(stage), ids(stage), ids(stage)));
            }
            update(engine, stage);
        }
    }

    private void train(Stage stage, boolean isSplit, boolean isLast) {
        situation = "in the forward of stage " + stage.index();
        if (stage.hasHead()) {
            stage.scaleLoss(1);
        }
        stage.enterStep(0, 0);
        release(stage, stage.forward(0, input(stage), ids(stage), ids(stage)));
        if (isLast) {
            stage.lastBackwardFollows();
        }
        Tensor outputGradient = stage.hasHead() ? null : stage.takeBoundary();
        if (isSplit) {
            situation = "in the backward of stage " + stage.index() + " for its input";
            release(stage, stage.backwardInput(0, outputGradient));
            situation = "in the backward of stage " + stage.index() + " for its weights";
            stage.backwardWeight(0);
        } else {
            situation = "in the backward of stage " + stage.index();
            release(stage, stage.backward(0, outputGradient));
        }
    }

    private void update(Engine engine, Stage stage) {
        situation = "in the gradient norm of stage " + stage.index();
        if (plan.exchangesTiedGradient(stage.index())) {
            Tensor other = stage.takeTiedGradient();
            engine.copy(stage.tiedGradient(), other);
            stage.addTiedGradient(other);
            stage.release(other);
        }
        if (stage.tiedEnd() == TiedEnd.BOTH) {
            stage.reduceTied();
        }
        stage.reduceReplicatedGradients();
        stage.addUpGradients();
        stage.squaredSums();
        situation = "in the weight update of stage " + stage.index();
        stage.optimizerStep(0, 1, 1);
        stage.zeroGradients(); // as after a step that is skipped
    }

    private static Tensor input(Stage stage) {
        return stage.hasEmbedding() ? null : stage.takeBoundary();
    }

    private int[] ids(Stage stage) {
        return stage.hasEmbedding() || stage.hasHead() ? new int[plan.stageSettings().rows()] : null;
    }

    private static void release(Stage stage, Tensor tensor) {
        if (tensor != null) {
            stage.release(tensor);
        }
    }
}
