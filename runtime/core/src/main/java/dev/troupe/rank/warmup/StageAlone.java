package dev.troupe.rank.warmup;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.TensorShare;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.step.StageOps;
import dev.troupe.plan.step.StepWatch;
import dev.troupe.rank.group.EngineGroup;
import dev.troupe.stage.Stage;
import java.util.Optional;

/**
 * One stage of a run on an engine, with zeros for weights, among other ranks that answer at once. Thread rule: one thread;
 * close it before its engine.
 */
public final class StageAlone implements AutoCloseable {
    private final Stage stage;
    private final StageOps ops;

    public StageAlone(TrainingPlan plan, int rank, int index, Engine engine, WorkClock clock) {
        WarmUpGroups groups = new WarmUpGroups(plan.ranks());
        Optional<CollectiveGroup> tensor = groups.join(GroupKind.TENSOR, rank, 0);
        Optional<CollectiveGroup> data = groups.join(GroupKind.DATA, rank, 0);
        TensorShare share = tensor.map(group -> new TensorShare(new EngineGroup(group, engine), plan.sharesSequence()))
                .orElse(TensorShare.ALL);
        DataShare dataShare = data
                .map(group -> new DataShare(new EngineGroup(group, engine,
                        plan.stageSettings().roundsGradients() ? Reduction.SUM_OF_ROUNDED : Reduction.SUM),
                        plan.zero(), Runnable::run))
                .orElse(DataShare.ALL);
        stage = Stage.create(engine, plan.partition(), index, plan.stageSettings(index), share, dataShare,
                (_, _, _, _) -> {
                    // Zeros suffice: neither the time of a kernel nor its support depends on its input.
                });
        ops = new StageOps(stage, engine, clock, plan,
                new Alone(rank, stage, plan.stageSettings().sequenceLength(),
                        new MicrobatchRows(plan.stageSettings().rows(), plan.stageSettings().separatesDocuments())),
                StepWatch.NONE);
    }

    public StageOps ops() {
        return ops;
    }

    @Override
    public void close() {
        stage.close();
    }
}
