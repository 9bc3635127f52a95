package dev.troupe.actor;

import dev.troupe.config.group.GroupKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * One JVM of the run: hosts the ranks that the coordinator places here, and owns their memory. It stops the transport
 * before it frees a tensor, since the transport's thread reads and writes tensors.
 */
public final class NodeActor extends AbstractBehavior<NodeActor.Command> {
    /** What a node is told. */
    public sealed interface Command {
    }

    /** Host these ranks. */
    record HostRanks(List<Integer> ranks) implements Command {
        HostRanks {
            ranks = List.copyOf(ranks);
        }
    }

    /** Longer than a stage takes for an action; shorter than anybody waits for the end of the actors. */
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    /** What the name of a group's actor begins with; its first rank follows. */
    private static final String GROUP = "tensor-group-";

    private final NodeContext node;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final List<RankResources> hosted = new ArrayList<>();

    private NodeActor(ActorContext<Command> context, NodeContext node,
            ActorRef<TrainingCoordinator.Command> coordinator) {
        super(context);
        this.node = node;
        this.coordinator = coordinator;
        coordinator.tell(new TrainingCoordinator.NodeJoined(context.getSelf()));
    }

    /** Joins the run and hosts what it is told to. The node closes the transport and all memory when it stops. */
    public static Behavior<Command> create(NodeContext node, ActorRef<TrainingCoordinator.Command> coordinator) {
        return Behaviors.setup(context -> new NodeActor(context, node, coordinator));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(HostRanks.class, this::onHostRanks)
                .onSignal(ChildFailed.class, this::onChildFailed).onSignal(PostStop.class, _ -> onPostStop()).build();
    }

    private Behavior<Command> onHostRanks(HostRanks host) {
        Map<Integer, List<RankResources>> groups = new TreeMap<>();
        for (int rank : host.ranks()) {
            RankResources resources;
            try {
                resources = new RankResources(rank, node);
            } catch (RuntimeException | LinkageError failure) { // an engine may lack its native library
                coordinator.tell(new TrainingCoordinator.RankFailed(rank, Reason.of(failure)));
                return this;
            }
            hosted.add(resources);
            groups.computeIfAbsent(node.plan().ranks().group(GroupKind.TENSOR, rank).getFirst(), _ -> new ArrayList<>())
                    .add(resources);
        }
        groups.forEach((first, members) -> getContext().watch(
                getContext().spawn(TensorParallelGroup.create(members, coordinator), GROUP + first)));
        return this;
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        coordinator.tell(new TrainingCoordinator.RankFailed(
                Integer.parseInt(failed.getRef().path().name().substring(GROUP.length())),
                Reason.of(failed.getCause())));
        return this;
    }

    private Behavior<Command> onPostStop() {
        try {
            node.transport().close();
        } finally {
            hosted.forEach(RankResources::shutDown);
            long deadlineNanos = System.nanoTime() + THREAD_END.toNanos();
            hosted.forEach(rank -> rank.close(deadlineNanos));
            node.groups().close();
        }
        return this;
    }
}
