package dev.troupe.actor;

import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * The ranks that share the stages of one place in a pipeline: they start together, and none of them goes on without the
 * others. A collective is under way on all of them or on none, so when one cannot go on, the others are told to leave their
 * collectives at once, and the coordinator hears of the one that failed.
 */
final class TensorParallelGroup extends AbstractBehavior<TensorParallelGroup.Command> {
    /** What a group is told. */
    sealed interface Command {
    }

    /** A rank cannot go on, for the reason in this sentence. */
    record MemberFailed(int rank, String reason) implements Command {
    }

    private static final DispatcherSelector RANKS = DispatcherSelector.fromConfig("troupe.ranks");

    private final List<RankResources> members;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private boolean hasFailed;

    private TensorParallelGroup(ActorContext<Command> context, List<RankResources> members,
            ActorRef<TrainingCoordinator.Command> coordinator) {
        super(context);
        this.members = members;
        this.coordinator = coordinator;
        for (RankResources member : members) {
            context.watch(context.spawn(ScheduleActor.create(member, coordinator, context.getSelf()),
                    "rank-" + member.rank(), RANKS));
        }
    }

    /**
     * Starts the ranks of a group.
     *
     * @param members
     *            the tensor-parallel ranks of one place, in their order; one alone is a group too
     */
    static Behavior<Command> create(List<RankResources> members, ActorRef<TrainingCoordinator.Command> coordinator) {
        return Behaviors.setup(context -> new TensorParallelGroup(context, List.copyOf(members), coordinator));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(MemberFailed.class, this::onMemberFailed)
                .onSignal(ChildFailed.class, this::onChildFailed).build();
    }

    private Behavior<Command> onMemberFailed(MemberFailed failed) {
        return fail(failed.rank(), failed.reason());
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        String name = failed.getRef().path().name();
        return fail(Integer.parseInt(name.substring("rank-".length())), Reason.of(failed.getCause()));
    }

    /** Only the first counts: that the others cannot go on without it follows. */
    private Behavior<Command> fail(int rank, String reason) {
        if (!hasFailed) {
            hasFailed = true;
            coordinator.tell(new TrainingCoordinator.RankFailed(rank, reason));
            members.forEach(RankResources::leaveGroups);
        }
        return this;
    }
}
