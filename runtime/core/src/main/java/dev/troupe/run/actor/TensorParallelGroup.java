package dev.troupe.run.actor;

import dev.troupe.engine.provider.LostDeviceException;
import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.Strike;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.run.actor.supervision.FatalErrors;
import dev.troupe.run.setup.RunPosition;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * The ranks that share the stages of one place in a pipeline: they start together, and none continues without the others. A
 * collective needs all of them. So when one has failed, the others leave their collectives at once, and the failure is
 * reported to the coordinator.
 */
final class TensorParallelGroup extends AbstractBehavior<TensorParallelGroup.Command> {
    sealed interface Command {
        /**
         * Returns the message of a rank's failure.
         *
         * @param cause the exception; null if there was none
         */
        static Command failure(int rank, String reason, Optional<Strike> strike, Throwable cause) {
            return LostDeviceException.isBehind(cause)
                    ? new DeviceLost(rank, reason)
                    : new MemberFailed(rank, reason, strike, cause);
        }
    }

    /**
     * The failure of a rank, with its reason in a sentence, and the error if it may strike again.
     *
     * @param cause the exception; null if there was none
     */
    record MemberFailed(int rank, String reason, Optional<Strike> strike, Throwable cause) implements Command {
    }

    /** The loss of a rank's device to the process, with its reason in a sentence. */
    record DeviceLost(int rank, String reason) implements Command {
    }

    private static final DispatcherSelector RANKS = DispatcherSelector.fromConfig("troupe.ranks");

    private final List<HostedRank> members;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final ActorRef<NodeActor.Command> node;
    private final RunPosition position;
    private boolean hasFailed;

    private TensorParallelGroup(ActorContext<Command> context, List<HostedRank> members,
            ActorRef<TrainingCoordinator.Command> coordinator, ActorRef<NodeActor.Command> node,
            RunPosition position) {
        super(context);
        this.members = members;
        this.coordinator = coordinator;
        this.node = node;
        this.position = position;
        for (HostedRank member : members) {
            context.watch(context.spawn(FatalErrors.contained(ScheduleActor.Command.class,
                    ScheduleActor.create(member, coordinator, context.getSelf())),
                    "rank-" + member.rank(), RANKS));
        }
    }

    /**
     * Starts the ranks of a group.
     *
     * @param members the tensor-parallel ranks of one place, in their order; may be one rank
     * @param position records the exceptions of its ranks
     */
    static Behavior<Command> create(List<HostedRank> members, ActorRef<TrainingCoordinator.Command> coordinator,
            ActorRef<NodeActor.Command> node, RunPosition position) {
        return FatalErrors.contained(Command.class, Behaviors.setup(
                context -> new TensorParallelGroup(context, List.copyOf(members), coordinator, node, position)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(MemberFailed.class, this::onMemberFailed)
                .onMessage(DeviceLost.class, this::onDeviceLost)
                .onSignal(ChildFailed.class, this::onChildFailed).onSignal(Terminated.class, this::onTerminated)
                .build();
    }

    private Behavior<Command> onMemberFailed(MemberFailed failed) {
        return fail(failed.rank(), failed.reason(), failed.strike(), failed.cause());
    }

    /** Reports the loss of the node and not of the rank, which cannot restart here. */
    private Behavior<Command> onDeviceLost(DeviceLost lost) {
        hasFailed = true;
        node.tell(new NodeActor.Happened(new NodeEvent.DeviceLost("rank " + lost.rank() + ": " + lost.reason())));
        return this;
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        return fail(rankOf(failed), Reason.of(failed.getCause()), Optional.empty(), failed.getCause());
    }

    private Behavior<Command> onTerminated(Terminated ended) {
        return fail(rankOf(ended), "its schedule actor ended", Optional.empty(), null);
    }

    private static int rankOf(Terminated ended) {
        return Integer.parseInt(ended.getRef().path().name().substring("rank-".length()));
    }

    /** Reports the first failure; later ones follow from it. */
    private Behavior<Command> fail(int rank, String reason, Optional<Strike> strike, Throwable cause) {
        if (!hasFailed) {
            hasFailed = true;
            position.met(cause);
            Incarnation from = members.stream().map(HostedRank::incarnation).filter(member -> member.rank() == rank)
                    .findFirst().orElseThrow();
            coordinator.tell(new TrainingCoordinator.Happened(
                    new RunEvent.RankFailed(from, "rank " + rank + ": " + reason, strike)));
            members.forEach(member -> member.resources().leaveGroups());
        }
        return this;
    }
}
