package dev.troupe.actor;

import dev.troupe.observe.RunOutcome;
import dev.troupe.prepare.Reason;
import dev.troupe.protocol.Commit;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.rank.NodeContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * One JVM of the run, until it is told what to host: it says that it is there, and runs its kernels once when asked to.
 * {@link HostingNode} is what it is from then on.
 */
public final class NodeActor extends AbstractBehavior<NodeActor.Command> {
    /** What a node is told. */
    public sealed interface Command {
    }

    /**
     * Host those ranks that live here of the run that writes to this directory.
     *
     * @param epoch
     *            that it is in
     * @param hosts
     *            for each rank its node
     * @param since
     *            for each node whose ranks are others than at first, the epoch since which it has those
     */
    record HostRanks(int epoch, List<String> hosts, Map<String, Integer> since, String directory,
            ActorRef<TrainingCoordinator.Command> coordinator) implements Command {
        HostRanks {
            hosts = List.copyOf(hosts);
            since = Map.copyOf(since);
        }
    }

    /**
     * Begin an epoch, and start these ranks again with the weights after so many steps, where they live here.
     *
     * @param hosts
     *            for each rank the node that it lives on from now on
     * @param since
     *            for each node whose ranks are others than at first, the epoch since which it has those
     */
    record EnterEpoch(int epoch, List<Integer> restarted, long stepsDone, List<String> hosts,
            Map<String, Integer> since) implements Command {
        EnterEpoch {
            restarted = List.copyOf(restarted);
            hosts = List.copyOf(hosts);
            since = Map.copyOf(since);
        }
    }

    /**
     * Copy what ranks keep to other nodes, and at once what they kept after so many steps.
     *
     * @param buddies
     *            for each rank the name of a node; empty text for none
     * @param doors
     *            where nodes take copies in, by their names
     */
    record KeepCopies(long stepsDone, List<String> buddies, Map<String, Integer> doors) implements Command {
        KeepCopies {
            buddies = List.copyOf(buddies);
            doors = Map.copyOf(doors);
        }
    }

    /** The run has come so far. */
    record Committed(Commit commit) implements Command {
    }

    /**
     * Write the parts of these ranks from what they kept; {@link TrainingCoordinator.CheckpointHappened} answers for
     * each.
     */
    record WriteParts(CheckpointAttempt attempt, List<Integer> ranks) implements Command {
        WriteParts {
            ranks = List.copyOf(ranks);
        }
    }

    /** The run is over, for this reason if it failed. */
    record RunEnded(long stepsDone, Optional<String> failure) implements Command {
    }

    /** The run does not want this node, for the reason in this sentence. */
    record Refused(String why) implements Command {
    }

    /**
     * The run has not begun: run each kind of kernel that your ranks will need once, and go on waiting to be told what
     * to host.
     */
    record RunKernels() implements Command {
    }

    /** Do not wait any longer to be told what to host; has no effect on a node that was told. */
    public record StopWaiting() implements Command {
    }

    record CopyCame(int rank, int stage, long stepsDone) implements Command {
    }

    record CoordinatorLost(boolean wasHere) implements Command {
    }

    record NotCalled() implements Command {
    }

    record Join() implements Command {
    }

    record FreeRetired() implements Command {
    }

    /** The actor system ends: have the ranks end, and close the transport and all memory first. */
    record Halt() implements Command {
    }

    /** The ranks were told to end long ago. */
    record GiveUp() implements Command {
    }

    private final NodeSetup setup;
    private final NodeLink link;
    private final NodeView view;
    private final TimerScheduler<Command> timers;

    private NodeActor(ActorContext<Command> context, TimerScheduler<Command> timers, NodeSetup setup,
            ActorRef<TrainingCoordinator.Command> coordinator) {
        super(context);
        this.timers = timers;
        this.setup = setup;
        this.link = new NodeLink(setup, context, coordinator, timers);
        this.view = new NodeView(setup.name(), RunPosition.of(context.getSystem()));
        link.seek(setup.patience());
    }

    /**
     * Joins the run and hosts what it is told to. The node closes the transport and all memory when it stops, or before
     * the actor system ends, whichever is first.
     */
    public static Behavior<Command> create(NodeSetup setup, ActorRef<TrainingCoordinator.Command> coordinator) {
        return Behaviors.setup(context -> Behaviors
                .withTimers(timers -> new NodeActor(context, timers, setup, coordinator)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(HostRanks.class, this::onHostRanks)
                .onMessage(Committed.class, this::onCommitted).onMessage(Join.class, _ -> onJoin())
                .onMessage(RunKernels.class, _ -> onRunKernels()).onMessage(RunEnded.class, this::onRunEnded)
                .onMessage(Refused.class, this::onRefused).onMessage(CoordinatorLost.class, this::onCoordinatorLost)
                .onMessage(NotCalled.class, _ -> onNotCalled()).onMessage(StopWaiting.class, _ -> onStopWaiting())
                .onMessage(Halt.class, _ -> Behaviors.stopped()).onAnyMessage(_ -> this) // of epochs without this node
                .onSignal(PostStop.class, _ -> onPostStop()).build();
    }

    private Behavior<Command> onJoin() {
        link.join(Optional.empty());
        return this;
    }

    private Behavior<Command> onRunKernels() {
        boolean isFirst = link.runKernels();
        link.await(setup.patience()); // kernels take as long as they do
        return isFirst ? onJoin() : this;
    }

    private Behavior<Command> onHostRanks(HostRanks host) {
        link.found(getContext(), host.coordinator());
        try {
            NodeContext node = setup.context().apply(Path.of(host.directory()));
            return new HostingNode(getContext(), timers, setup, link, view, node, host);
        } catch (RuntimeException failure) { // the run's directory, or what it reads from there
            link.coordinator().tell(new TrainingCoordinator.NodeFailed(setup.name(), Reason.of(failure)));
            return this;
        }
    }

    private Behavior<Command> onCommitted(Committed told) {
        view.note(told.commit());
        return this;
    }

    private Behavior<Command> onRunEnded(RunEnded end) {
        link.end(end);
        return this;
    }

    private Behavior<Command> onRefused(Refused refused) {
        setup.ended().accept(RunOutcome.refused(refused.why()));
        return this;
    }

    private Behavior<Command> onCoordinatorLost(CoordinatorLost lost) {
        if (lost.wasHere()) {
            return Behaviors.stopped();
        }
        link.fail(NodeLink.COORDINATOR_LOST);
        return this;
    }

    private Behavior<Command> onStopWaiting() {
        if (link.waits()) {
            setup.ended().accept(new RunOutcome(0, Optional.empty()));
        }
        return this;
    }

    private Behavior<Command> onNotCalled() {
        link.fail("node " + setup.name() + " found no cluster to join within " + setup.patience().toSeconds()
                + " seconds: see that the other nodes run, that their hosts and control ports can be reached, and that all"
                + " certificates, where cluster.tls is set, come from one authority");
        return this;
    }

    /** Without ranks there is nothing to wait for. */
    private Behavior<Command> onPostStop() {
        try {
            setup.transport().close();
        } finally {
            setup.release().run();
            link.released();
        }
        return this;
    }
}
