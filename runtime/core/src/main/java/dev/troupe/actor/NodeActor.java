package dev.troupe.actor;

import dev.troupe.config.group.GroupKind;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.Commit;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.observe.RunOutcome;
import dev.troupe.prepare.Reason;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
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

    private record CopyCame(int rank, int stage, long stepsDone) implements Command {
    }

    private record CoordinatorLost(boolean wasHere) implements Command {
    }

    private record NotCalled() implements Command {
    }

    private record Join() implements Command {
    }

    private record FreeRetired() implements Command {
    }

    /** Longer than a stage takes for an action; shorter than anybody waits for the end of the actors. */
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    /** What the name of a group's actor begins with; its first rank follows. */
    private static final String GROUP = "tensor-group-";

    /** The timer that runs until the node is told what to host. */
    private static final String WAITING = "waiting";

    /**
     * The timer that runs as long, and while the node waits for another coordinator, and how often it says that it is
     * there.
     */
    private static final String JOINING = "joining";
    private static final Duration SAY_AGAIN = Duration.ofMillis(500);
    private static final Duration MOST_WITHOUT_COORDINATOR = Duration.ofSeconds(60);
    private static final Duration LOOK_FOR_RETIRED = Duration.ofMillis(200);
    private static final String COORDINATOR_LOST = "the node of the coordinator ended before the run did; its log says why";

    private final NodeSetup setup;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final TimerScheduler<Command> timers;
    private final NodeView view;
    // By rank; one that lives here is not in it whose engine could not be opened.
    private final Map<Integer, RankResources> hosted = new TreeMap<>();
    private final List<RankResources> retired = new ArrayList<>();
    private final PartWriter parts = new PartWriter();
    // By the first rank of the group, which may live elsewhere.
    private final Map<Integer, ActorRef<TensorParallelGroup.Command>> groups = new HashMap<>();
    private Optional<WarmUp> warmUp = Optional.empty();
    // Both are there once it was told what to host.
    private NodeContext node;
    private NodeCopies copies;
    private boolean runsKernels;
    private boolean isOver;

    private NodeActor(ActorContext<Command> context, TimerScheduler<Command> timers, NodeSetup setup,
            ActorRef<TrainingCoordinator.Command> coordinator) {
        super(context);
        this.timers = timers;
        this.setup = setup;
        this.coordinator = coordinator;
        this.view = new NodeView(setup.name(), RunPosition.of(context.getSystem()));
        timers.startSingleTimer(WAITING, new NotCalled(), setup.patience());
        timers.startTimerWithFixedDelay(JOINING, new Join(), Duration.ZERO, SAY_AGAIN);
    }

    /** Joins the run and hosts what it is told to. The node closes the transport and all memory when it stops. */
    public static Behavior<Command> create(NodeSetup setup, ActorRef<TrainingCoordinator.Command> coordinator) {
        return Behaviors.setup(context -> Behaviors
                .withTimers(timers -> new NodeActor(context, timers, setup, coordinator)));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(HostRanks.class, this::onHostRanks)
                .onMessage(EnterEpoch.class, this::onEnterEpoch).onMessage(KeepCopies.class, this::onKeepCopies)
                .onMessage(Committed.class, this::onCommitted).onMessage(WriteParts.class, this::onWriteParts)
                .onMessage(Join.class, _ -> onJoin()).onMessage(RunKernels.class, _ -> onRunKernels())
                .onMessage(CopyCame.class, this::onCopyCame).onMessage(FreeRetired.class, _ -> onFreeRetired())
                .onMessage(RunEnded.class, this::onRunEnded).onMessage(Refused.class, this::onRefused)
                .onMessage(CoordinatorLost.class, this::onCoordinatorLost)
                .onMessage(NotCalled.class, _ -> onNotCalled()).onMessage(StopWaiting.class, _ -> onStopWaiting())
                .onSignal(ChildFailed.class, this::onChildFailed).onSignal(PostStop.class, _ -> onPostStop()).build();
    }

    /**
     * Says that it is here, with what it knows of the run once it was part of it: again until it is told what to host,
     * since a coordinator that heard it may be gone, and what it answered may be lost.
     */
    private Behavior<Command> onJoin() {
        Optional<NodeReport> report = Optional.ofNullable(node)
                .map(known -> view.report(known.plan(), known.snapshots().orElseThrow()));
        coordinator.tell(new TrainingCoordinator.NodeJoined(getContext().getSelf(), setup.name(), setup.keys(),
                setup.neighbours().door(), report, runsKernels ? setup.warmUp().get() : WarmUpReport.UNDER_WAY));
        return this;
    }

    private Behavior<Command> onRunKernels() {
        boolean isFirst = !runsKernels;
        runsKernels = true;
        if (node == null) {
            timers.startSingleTimer(WAITING, new NotCalled(), setup.patience()); // kernels take as long as they do
        }
        return isFirst ? onJoin() : this;
    }

    /** From the coordinator; from one that takes over, to a node that has its ranks already. */
    private Behavior<Command> onHostRanks(HostRanks host) {
        timers.cancel(WAITING);
        timers.cancel(JOINING);
        getContext().watchWith(host.coordinator(),
                new CoordinatorLost(host.coordinator().path().address().hasLocalScope()));
        if (node != null) {
            return this;
        }
        try {
            node = setup.context().apply(Path.of(host.directory()));
        } catch (RuntimeException failure) { // the run's directory, or what it reads from there
            coordinator.tell(new TrainingCoordinator.NodeFailed(setup.name(), Reason.of(failure)));
            return this;
        }
        copies = new NodeCopies(setup.name(), node,
                event -> coordinator.tell(new TrainingCoordinator.Happened(event)));
        ActorRef<Command> self = getContext().getSelf();
        node.copies().tell((rank, stage, stepsDone) -> self.tell(new CopyCame(rank, stage, stepsDone)));
        view.begin(host);
        view.position().reach(node.firstStep());
        if (node.warmsUp() && view.ranksHere().isEmpty()) {
            warmUp = Optional.of(WarmUp.start(node, event -> EventLog.ofNode(view.position(), event)));
        }
        start(view.ranksHere(), node.firstStep());
        return this;
    }

    /**
     * What a retired incarnation hands over from now on goes nowhere; then the transport lets go of what it has of it;
     * only then does the next one say that it is there. A node whose ranks live elsewhere now is gone.
     */
    private Behavior<Command> onEnterEpoch(EnterEpoch enter) {
        if (node == null || enter.epoch() <= view.epoch()) {
            return this;
        }
        view.enter(enter).forEach(lost -> node.copies().forget(setup.neighbours().indexOf(lost)));
        enter.restarted().stream().filter(hosted::containsKey).forEach(this::retire);
        NodeMap map = setup.neighbours().map(enter.hosts(), enter.since());
        node.transport().epoch(enter.epoch(), map);
        node.groups().enter(map);
        start(view.ranksHere().stream().filter(enter.restarted()::contains).toList(), enter.stepsDone());
        return this;
    }

    private Behavior<Command> onKeepCopies(KeepCopies keep) {
        if (node != null) {
            view.note(keep);
            node.copies().route(view.routes(setup.neighbours()::indexOf));
            // What a rank kept before this was heard may have gone elsewhere.
            for (long steps = keep.stepsDone(); steps <= keep.stepsDone() + 1; steps++) {
                copies.send(hosted.values(), steps);
                copies.tellAll(keep.buddies(), steps);
            }
        }
        return this;
    }

    private Behavior<Command> onCopyCame(CopyCame came) {
        copies.tell(came.rank(), came.stepsDone());
        return this;
    }

    private void retire(int rank) {
        RankResources resources = hosted.remove(rank);
        EventLog.ofRank(resources.incarnation(), view.position().stepsDone(),
                "is given up; its thread stood at " + resources.whereItStands());
        ActorRef<TensorParallelGroup.Command> group = groups.remove(firstOfGroup(rank));
        if (group != null) {
            getContext().unwatch(group);
            getContext().stop(group);
        }
        resources.retire();
        retired.add(resources);
        timers.startTimerWithFixedDelay(new FreeRetired(), LOOK_FOR_RETIRED);
    }

    private int firstOfGroup(int rank) {
        return node.plan().ranks().group(GroupKind.TENSOR, rank).getFirst();
    }

    private Behavior<Command> onFreeRetired() {
        retired.removeIf(RankResources::closeIfEnded);
        if (retired.isEmpty()) {
            timers.cancel(new FreeRetired());
        }
        return this;
    }

    private void start(List<Integer> ranks, long stepsDone) {
        Map<Integer, List<RankResources>> members = new TreeMap<>();
        if (!ranks.isEmpty()) {
            warmUp.ifPresent(WarmUp::end); // so that its memory is free
        }
        for (int rank : ranks) {
            RankResources resources;
            try {
                resources = new RankResources(new Incarnation(rank, view.epoch()), stepsDone, node);
            } catch (RuntimeException | LinkageError failure) { // an engine may lack its native library
                tellFailed(new Incarnation(rank, view.epoch()), failure);
                continue;
            }
            hosted.put(rank, resources);
            members.computeIfAbsent(firstOfGroup(rank), _ -> new ArrayList<>()).add(resources);
        }
        members.forEach((first, group) -> {
            ActorRef<TensorParallelGroup.Command> actor = getContext()
                    .spawn(TensorParallelGroup.create(group, coordinator), GROUP + first + "-of-epoch-" + view.epoch());
            getContext().watch(actor);
            groups.put(first, actor);
        });
    }

    private void tellFailed(Incarnation rank, Throwable failure) {
        coordinator.tell(new TrainingCoordinator.Happened(new RunEvent.RankFailed(rank,
                "rank " + rank.rank() + ": " + Reason.of(failure), Reason.strike("as it was started", failure))));
    }

    private Behavior<Command> onCommitted(Committed told) {
        view.note(told.commit());
        if (node != null) {
            long before = told.commit().stepsDone() - 1; // nothing goes back further
            node.snapshots().ifPresent(kept -> view.unwanted().forEach(rank -> kept.forget(rank, before)));
        }
        return this;
    }

    private Behavior<Command> onWriteParts(WriteParts order) {
        if (node != null) {
            parts.start(order, node, answer -> coordinator.tell(new TrainingCoordinator.CheckpointHappened(answer)));
        }
        return this;
    }

    private Behavior<Command> onRunEnded(RunEnded end) {
        isOver = true;
        setup.ended().accept(new RunOutcome(end.stepsDone(), end.failure()));
        return this;
    }

    private Behavior<Command> onRefused(Refused refused) {
        setup.ended().accept(RunOutcome.refused(refused.why()));
        return this;
    }

    /**
     * A coordinator of this JVM ends without a word where all its actors do: whoever started them knows why. Where its
     * node is lost, the run goes on under another, which needs to know how far it has come.
     */
    private Behavior<Command> onCoordinatorLost(CoordinatorLost lost) {
        if (lost.wasHere()) {
            return Behaviors.stopped();
        }
        if (isOver) {
            return this;
        }
        if (node == null || node.snapshots().isEmpty()) {
            return fail(COORDINATOR_LOST);
        }
        EventLog.ofNode(view.position(), "the node of the coordinator is gone; another is to take over");
        timers.startTimerWithFixedDelay(JOINING, new Join(), Duration.ZERO, SAY_AGAIN);
        timers.startSingleTimer(WAITING, new NotCalled(), MOST_WITHOUT_COORDINATOR);
        return this;
    }

    private Behavior<Command> onStopWaiting() {
        if (node == null && timers.isTimerActive(WAITING)) {
            setup.ended().accept(new RunOutcome(0, Optional.empty()));
        }
        return this;
    }

    private Behavior<Command> onNotCalled() {
        if (node != null) {
            return fail(COORDINATOR_LOST + ", and no other took over within " + MOST_WITHOUT_COORDINATOR.toSeconds()
                    + " seconds");
        }
        return fail("node " + setup.name() + " found no cluster to join within " + setup.patience().toSeconds()
                + " seconds: see that the other nodes run, that their hosts and control ports can be reached, and that all"
                + " certificates, where cluster.tls is set, come from one authority");
    }

    private Behavior<Command> fail(String why) {
        setup.ended().accept(new RunOutcome(0, Optional.of(why)));
        return this;
    }

    private Behavior<Command> onChildFailed(ChildFailed failed) {
        groups.forEach((first, group) -> {
            if (group.equals(failed.getRef())) {
                hosted.values().stream().filter(rank -> firstOfGroup(rank.rank()) == first).findFirst()
                        .ifPresent(rank -> tellFailed(rank.incarnation(), failed.getCause()));
            }
        });
        return this;
    }

    private Behavior<Command> onPostStop() {
        warmUp.ifPresent(WarmUp::end);
        List<RankResources> all = new ArrayList<>(hosted.values());
        all.addAll(retired);
        hosted.values().forEach(rank -> rank.outbox().retire()); // what the transport gives back stays here
        Transport transport = setup.transport();
        if (node != null) {
            node.faults().close();
            transport = node.transport();
        }
        try {
            transport.close();
        } finally {
            all.forEach(RankResources::shutDown);
            long deadlineNanos = System.nanoTime() + THREAD_END.toNanos();
            all.forEach(rank -> rank.close(deadlineNanos));
            parts.awaitEnd(deadlineNanos);
            setup.release().run();
        }
        return this;
    }
}
