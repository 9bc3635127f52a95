package dev.troupe.stage;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutSettings;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.partition.Partition;
import dev.troupe.protocol.run.GlobalNorm;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.WeightVersions;
import dev.troupe.shard.Overlap;
import dev.troupe.stage.NaivePipeline.StepResult;
import dev.troupe.weights.WeightSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The stages of a golden run in one thread, each on an engine of its own, which walk the rows of a plan with overlapping
 * steps. The part of the others in an update is computed when the first rank comes to it.
 */
final class OverlappingPipeline implements AutoCloseable {
    private final StageGolden golden;
    private final Plan plan;
    private final Optimizing optimizing;
    private final int microbatchSize;
    private final int gradientSums;
    final List<Engine> engines = new ArrayList<>();
    final List<Stage> stages = new ArrayList<>();
    // By stage and microbatch.
    private final Map<Action, Tensor> arrived = new HashMap<>();
    private final int[] updates;
    private final int[] backwards;
    private final double[] losses;
    private final List<StepResult> results = new ArrayList<>();
    // Of stages that update alone, by step.
    private final List<List<LayerSquaredSum>> measured = new ArrayList<>();

    /** The rule of updates. */
    record Optimizing(Optimizer optimizer, double learningRate, double clip) {
        static Optimizing of(StageGolden golden) {
            return new Optimizing(golden.optimizer, golden.learningRate, golden.gradientClip);
        }
    }

    /**
     * @param microbatchSize sequences of a microbatch; steps take the golden's in turn
     */
    OverlappingPipeline(StageGolden golden, Partition partition, Plan plan, int microbatchSize, WeightVersions weights,
            Optimizing optimizing, Supplier<Engine> engine, WeightSource source) {
        this.golden = golden;
        this.plan = plan;
        this.optimizing = optimizing;
        this.microbatchSize = microbatchSize;
        this.gradientSums = Collections.max(weights.liveGradients());
        this.updates = new int[plan.stageCount()];
        this.backwards = new int[plan.stageCount()];
        this.losses = new double[plan.microbatchCount()];
        boolean replays = plan.rows().stream().flatMap(List::stream)
                .anyMatch(action -> action.kind() == Kind.RECOMPUTE);
        StageSettings settings = new StageSettings(microbatchSize, golden.sequenceLength, plan.microbatchesPerStep(),
                optimizing.optimizer, replays ? Recompute.FULL : Recompute.NONE, DropoutSettings.NONE)
                .with(new Replay(1, replays ? Replay.ALL : 0));
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            engines.add(engine.get());
            stages.add(Stage.create(engines.getLast(), partition, stage,
                    settings.with(new Overlap(weights.liveVersions().get(stage), gradientSums)), source));
        }
        for (int step = 0; step < plan.stepCount(); step++) {
            measured.add(new ArrayList<>());
        }
    }

    /** Walks the plan from its first action to its last; returns loss and norm of each step. */
    List<StepResult> train() {
        int[] positions = new int[plan.rankCount()];
        boolean moved = true;
        while (moved) {
            moved = false;
            for (int rank = 0; rank < plan.rankCount(); rank++) {
                List<Action> row = plan.rows().get(rank);
                while (positions[rank] < row.size() && perform(row.get(positions[rank]))) {
                    positions[rank]++;
                    moved = true;
                }
            }
        }
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            if (positions[rank] < plan.rows().get(rank).size()) {
                throw new IllegalStateException("rank " + rank + " waits for ever at position " + positions[rank]);
            }
        }
        for (int step = results.size(); step < plan.stepCount(); step++) {
            results.add(result(step, measured.get(step)));
        }
        return results;
    }

    /** Does an action if it can start. */
    private boolean perform(Action action) {
        return switch (action.kind()) {
            case FORWARD -> forward(action);
            case RECOMPUTE -> recompute(action);
            case FULL_BACKWARD -> backward(action);
            case UPDATE -> update(action.stage(), action.microbatch());
            default -> throw new IllegalArgumentException(action + " is in no plan that only computes");
        };
    }

    private void use(Action action) {
        int stage = action.stage();
        stages.get(stage).use(updates[stage] - action.version(), sumOf(plan.stepOf(action)));
    }

    private int sumOf(int step) {
        return step % gradientSums;
    }

    private boolean forward(Action action) {
        int stage = action.stage();
        boolean isFirst = stage == 0;
        if (!isFirst && !arrived.containsKey(action.work())) {
            return false;
        }
        int step = plan.stepOf(action);
        int number = action.microbatch() % plan.microbatchesPerStep();
        use(action);
        stages.get(stage).enterStep(step, number - action.microbatch());
        Tensor output = stages.get(stage).forward(action.microbatch(), arrived.remove(action.work()),
                new MicrobatchRows(golden.tokens(0, action.microbatch(), microbatchSize, 0),
                        golden.tokens(0, action.microbatch(), microbatchSize, 1)));
        if (output == null) {
            losses[action.microbatch()] = stages.get(stage).loss(action.microbatch());
        } else {
            cross(action, stage + 1, output);
        }
        return true;
    }

    private boolean recompute(Action action) {
        use(action);
        stages.get(action.stage()).recompute(action.microbatch());
        return true;
    }

    private boolean backward(Action action) {
        int stage = action.stage();
        boolean isLast = stage == plan.lastStage();
        if (!isLast && !arrived.containsKey(action.work())) {
            return false;
        }
        use(action);
        Tensor gradient = stages.get(stage).backward(action.microbatch(), arrived.remove(action.work()));
        backwards[stage]++;
        if (gradient != null) {
            cross(action, stage - 1, gradient);
        }
        return true;
    }

    private void cross(Action action, int to, Tensor tensor) {
        Tensor landed = stages.get(to).boundary().take();
        HostCopies.copy(engines.get(action.stage()), tensor, engines.get(to), landed);
        stages.get(action.stage()).boundary().release(tensor);
        arrived.put(new Action(to, action.kind(), action.microbatch()), landed);
    }

    private boolean update(int stage, int step) {
        if (plan.stagesUpdateAlone()) {
            updateAlone(stage, step);
            return true;
        }
        int needed = (step + 1) * plan.microbatchesPerStep();
        for (int done : backwards) {
            if (done < needed) {
                return false;
            }
        }
        if (results.size() == step) {
            results.add(measure(step));
        }
        stages.get(stage).use(0, sumOf(step));
        double norm = results.get(step).norm();
        stages.get(stage).optimizerStep(optimizing.learningRate,
                GlobalNorm.clipCoefficient(norm, optimizing.clip), step + 1);
        updates[stage]++;
        return true;
    }

    /** By the certificate the stage's gradients of the step are complete. */
    private void updateAlone(int index, int step) {
        Stage stage = stages.get(index);
        stage.use(0, sumOf(step));
        if (stage.tiedEnd() == TiedEnd.BOTH) {
            stage.tied().reduce();
        }
        stage.addUpGradients();
        stage.squaredSums((block, part, sum) -> measured.get(step).add(new LayerSquaredSum(block, part, sum)));
        stage.optimizerStep(optimizing.learningRate, 1, step + 1);
        updates[index]++;
    }

    private StepResult measure(int step) {
        stages.forEach(stage -> stage.use(0, sumOf(step)));
        if (stages.getFirst().tiedEnd() == TiedEnd.BOTH) {
            stages.getFirst().tied().reduce();
        } else if (stages.getFirst().tiedEnd() == TiedEnd.EMBEDDING) {
            exchange(stages.getFirst(), engines.getFirst(), stages.getLast(), engines.getLast());
        }
        List<LayerSquaredSum> sums = new ArrayList<>();
        stages.forEach(stage -> {
            stage.addUpGradients();
            stage.squaredSums((block, part, sum) -> sums.add(new LayerSquaredSum(block, part, sum)));
        });
        return result(step, sums);
    }

    private StepResult result(int step, List<LayerSquaredSum> sums) {
        double loss = 0;
        for (int number = 0; number < plan.microbatchesPerStep(); number++) {
            loss += losses[step * plan.microbatchesPerStep() + number];
        }
        return new StepResult(loss / plan.microbatchesPerStep(), GlobalNorm.of(sums));
    }

    private static void exchange(Stage first, Engine firstEngine, Stage last, Engine lastEngine) {
        Tensor headEnd = first.tied().takeGradient();
        Tensor embeddingEnd = last.tied().takeGradient();
        HostCopies.copy(lastEngine, last.tied().gradient(), firstEngine, headEnd);
        HostCopies.copy(firstEngine, first.tied().gradient(), lastEngine, embeddingEnd);
        first.tied().add(headEnd);
        last.tied().add(embeddingEnd);
        first.boundary().release(headEnd);
        last.boundary().release(embeddingEnd);
    }

    @Override
    public void close() {
        stages.forEach(Stage::close);
        engines.forEach(Engine::close);
    }
}
