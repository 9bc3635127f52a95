package dev.troupe.rank.warmup;

import dev.troupe.batch.MicrobatchRows;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.provider.WorkClock;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.ExpertShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.step.StageOps;
import dev.troupe.plan.step.StepWatch;
import dev.troupe.rank.group.EngineGroup;
import dev.troupe.rank.group.RankCollectives;
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
        TensorShare share = tensor.map(group -> new TensorShare(new EngineGroup(group, engine), plan.sharding()))
                .orElse(TensorShare.ALL);
        Reduction sum = RankCollectives.sumOfGradients(plan);
        ExpertShare experts = new ExpertShare(among(groups, GroupKind.EXPERT, rank, engine, Reduction.SUM),
                among(groups, GroupKind.EXPERT_DATA, rank, engine, sum), plan.stageSettings().addsInTree());
        DataShare dataShare = new DataShare(among(groups, GroupKind.DATA, rank, engine, sum), plan.zero(),
                Runnable::run, experts, plan.trainsReplicas());
        stage = Stage.create(engine, plan.partition(), index, plan.stageSettings(index).keepingAllHalves(), share,
                dataShare,
                (_, _, _, _) -> {
                    // Zeros suffice: neither the time of a kernel nor its support depends on its input.
                });
        ops = new StageOps(stage, engine, clock, plan,
                new Alone(rank, stage, plan.stageSettings().sequenceLength(),
                        new MicrobatchRows(plan.stageSettings().rows(), plan.stageSettings().separatesDocuments())),
                StepWatch.NONE);
    }

    private static TensorGroup among(WarmUpGroups groups, GroupKind kind, int rank, Engine engine, Reduction sum) {
        return groups.join(kind, rank, 0).<TensorGroup>map(group -> new EngineGroup(group, engine, sum))
                .orElse(TensorGroup.ALONE);
    }

    public StageOps ops() {
        return ops;
    }

    @Override
    public void close() {
        stage.close();
    }
}
