package dev.troupe.actor;

import dev.troupe.config.group.GroupKind;
import dev.troupe.run.RunOutcome;
import dev.troupe.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * One JVM of the run: hosts the ranks that the coordinator places here, and owns their memory. It stops the transport
 * before it frees a tensor, since the transport's thread reads and writes tensors.
 */
public final class NodeActor extends AbstractBehavior<NodeActor.Command> {
    /** What a node is told. */
    public sealed interface Command {
    }

    /** Host these ranks of the run that writes to this directory. */
    record HostRanks(List<Integer> ranks, String directory, ActorRef<TrainingCoordinator.Command> coordinator)
            implements
                Command {
        HostRanks {
            ranks = List.copyOf(ranks);
        }
    }

    /** The run is over, for this reason if it failed. */
    record RunEnded(long stepsDone, Optional<String> failure) implements Command {
    }

    /** The run does not want this node, for the reason in this sentence. */
    record Refused(String why) implements Command {
    }

    /** Do not wait any longer to be told what to host; has no effect on a node that was told. */
    public record StopWaiting() implements Command {
    }

    private record CoordinatorLost() implements Command {
    }

    private record NotCalled() implements Command {
    }

    /**
     * What a node is and brings along.
     *
     * @param name
     *            its name in the run
     * @param traits
     *            what must be the same on all nodes of a run, in words: version, plan, configuration
     * @param patience
     *            how long it waits to be told what to host
     * @param context
     *            what its ranks share, given the directory of the run
     * @param transport
     *            of the node; closed before its ranks' threads end
     * @param release
     *            gives back what the ranks need until their threads have ended
     * @param ended
     *            hears how the run ended
     */
    public record Setup(String name, Map<String, String> traits, Duration patience, Function<Path, NodeContext> context,
            Transport transport, Runnable release,
            Consumer<RunOutcome> ended) {
    }

    /** Longer than a stage takes for an action; shorter than anybody waits for the end of the actors. */
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    /** What the name of a group's actor begins with; its first rank follows. */
    private static final String GROUP = "tensor-group-";

    /** The timer that runs until the node is told what to host. */
    private static final String WAITING = "waiting";

    private final Setup setup;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final TimerScheduler<Command> timers;
    private final List<RankResources> hosted = new ArrayList<>();

    private NodeActor(ActorContext<Command> context, TimerScheduler<Command> timers, Setup setup,
            ActorRef<TrainingCoordinator.Command> coordinator) {
        super(context);
        this.timers = timers;
        this.setup = setup;
        this.coordinator = coordinator;
        timers.startSingleTimer(WAITING, new NotCalled(), setup.patience());
        coordinator.tell(new TrainingCoordinator.NodeJoined(context.getSelf(), setup.name(), setup.traits()));
    }

    /** Joins the run and hosts what it is told to. The node closes the transport and all memory when it stops. */
    public static Behavior<Command> create(Setup setup, ActorRef<TrainingCoordinator.Command> coordinator) {
        return Behaviors.setup(context -> Behaviors
                .withTimers(timers -> new NodeActor(context, timers, setup, coordinator)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(HostRanks.class, this::onHostRanks)
                .onMessage(RunEnded.class, this::onRunEnded).onMessage(Refused.class, this::onRefused)
                .onMessage(CoordinatorLost.class, _ -> onCoordinatorLost())
                .onMessage(NotCalled.class, _ -> onNotCalled()).onMessage(StopWaiting.class, _ -> onStopWaiting())
                .onSignal(ChildFailed.class, this::onChildFailed).onSignal(PostStop.class, _ -> onPostStop()).build();
    }

    private Behavior<Command> onHostRanks(HostRanks host) {
        timers.cancel(WAITING);
        getContext().watchWith(host.coordinator(), new CoordinatorLost());
        NodeContext node = setup.context().apply(Path.of(host.directory()));
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

    private Behavior<Command> onRunEnded(RunEnded end) {
        setup.ended().accept(new RunOutcome(end.stepsDone(), end.failure()));
        return this;
    }

    private Behavior<Command> onRefused(Refused refused) {
        setup.ended().accept(RunOutcome.refused(refused.why()));
        return this;
    }

    private Behavior<Command> onCoordinatorLost() {
        return fail("the node of the coordinator ended before the run did; its log says why");
    }

    private Behavior<Command> onStopWaiting() {
        return timers.isTimerActive(WAITING) ? fail("it was stopped while it waited for the other nodes") : this;
    }

    private Behavior<Command> onNotCalled() {
        return fail("node " + setup.name() + " found no cluster to join within " + setup.patience().toSeconds()
                + " seconds: see that the other nodes run, that their hosts and control ports can be reached, and that all"
                + " certificates, where cluster.tls is set, come from one authority");
    }

    private Behavior<Command> fail(String why) {
        setup.ended().accept(new RunOutcome(0, Optional.of(why)));
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
            setup.transport().close();
        } finally {
            hosted.forEach(RankResources::shutDown);
            long deadlineNanos = System.nanoTime() + THREAD_END.toNanos();
            hosted.forEach(rank -> rank.close(deadlineNanos));
            setup.release().run();
        }
        return this;
    }
}
