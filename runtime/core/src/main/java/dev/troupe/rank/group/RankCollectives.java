package dev.troupe.rank.group;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.config.group.GroupKind;
import dev.troupe.engine.Engine;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.ExpertShare;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.Incarnation;
import dev.troupe.rank.pulse.Pulse;
import dev.troupe.rank.pulse.WatchedGroup;
import java.util.Optional;

/** The process groups of one incarnation of a rank, with its thread of exchanges. Thread rule: any thread. */
public final class RankCollectives {
    private final TrainingPlan plan;
    private final Engine engine;
    private final Optional<CollectiveGroup> tensor;
    private final Optional<CollectiveGroup> data;
    private final Optional<CollectiveGroup> expert;
    private final Optional<CollectiveGroup> expertData;
    private final ExchangeThread thread;

    public RankCollectives(RankGroups groups, Incarnation rank, TrainingPlan plan, Engine engine, Pulse pulse) {
        this.plan = plan;
        this.engine = engine;
        this.tensor = join(groups, GroupKind.TENSOR, rank, pulse);
        this.data = join(groups, GroupKind.DATA, rank, pulse);
        boolean dividesExperts = plan.ranks().expert() > 1;
        this.expert = dividesExperts ? join(groups, GroupKind.EXPERT, rank, pulse) : Optional.empty();
        this.expertData = dividesExperts ? join(groups, GroupKind.EXPERT_DATA, rank, pulse) : Optional.empty();
        this.thread = new ExchangeThread(rank.rank());
    }

    private static Optional<CollectiveGroup> join(RankGroups groups, GroupKind kind, Incarnation rank, Pulse pulse) {
        return groups.join(kind, rank.rank(), rank.epoch()).map(group -> new WatchedGroup(group, pulse));
    }

    /** Returns the tensor-parallel group; empty if the rank is alone in it. */
    public Optional<CollectiveGroup> tensor() {
        return tensor;
    }

    public ExchangeThread thread() {
        return thread;
    }

    public TensorShare tensorShare() {
        return tensor.map(group -> new TensorShare(new EngineGroup(group, engine, thread::waited),
                plan.sharding())).orElse(TensorShare.ALL);
    }

    /** Returns the sum of gradients over the ranks with the same weights. */
    public static Reduction sumOfGradients(TrainingPlan plan) {
        return switch (plan.stageSettings().gradientOrder()) {
            case RANKS -> Reduction.SUM;
            case ROUNDED_RANKS -> Reduction.SUM_OF_ROUNDED;
            case TREE -> Reduction.TREE_SUM;
        };
    }

    /** Returns the rank's share of the state that its data-parallel group has in common. */
    public DataShare dataShare() {
        Reduction sum = sumOfGradients(plan);
        return data.map(
                group -> new DataShare(new EngineGroup(group, engine, sum), plan.zero(), thread, expertShare(sum)))
                .orElseGet(() -> new DataShare(TensorGroup.ALONE, Zero.NONE, thread))
                .withReplicas(plan.trainsReplicas());
    }

    private ExpertShare expertShare(Reduction sum) {
        return expert.map(group -> new ExpertShare(new EngineGroup(group, engine, thread::waited),
                expertData.<TensorGroup>map(holders -> new EngineGroup(holders, engine, sum))
                        .orElse(TensorGroup.ALONE),
                plan.stageSettings().addsInTree()))
                .orElse(ExpertShare.ALL);
    }

    public long tensorBytesSent() {
        return sent(tensor);
    }

    public long dataBytesSent() {
        return sent(data) + sent(expertData);
    }

    public long expertBytesSent() {
        return sent(expert);
    }

    private static long sent(Optional<CollectiveGroup> group) {
        return group.map(CollectiveGroup::bytesSent).orElse(0L);
    }

    /** Ends the collectives of this rank, and thereby the collectives of the other members. */
    public void leave() {
        tensor.ifPresent(CollectiveGroup::close);
        data.ifPresent(CollectiveGroup::close);
        expert.ifPresent(CollectiveGroup::close);
        expertData.ifPresent(CollectiveGroup::close);
    }
}
