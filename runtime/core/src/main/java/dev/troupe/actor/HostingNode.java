package dev.troupe.actor;

import dev.troupe.rank.NodeContext;
import dev.troupe.rank.PartWriter;
import dev.troupe.rank.WarmUp;
import dev.troupe.transport.NodeMap;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * A {@link NodeActor} that was told what to host: it owns the memory of its ranks. It stops the transport before it frees a
 * tensor, since the transport's thread reads and writes tensors.
 */
final class HostingNode extends AbstractBehavior<NodeActor.Command> {
    /** Longer than a stage takes for an action; shorter than anybody waits for the end of the actors. */
    private static final Duration THREAD_END = Duration.ofSeconds(10);
    private static final Duration MOST_WITHOUT_COORDINATOR = Duration.ofSeconds(60);
    private static final Duration LOOK_FOR_RETIRED = Duration.ofMillis(200);

    private final NodeSetup setup;
    private final NodeLink link;
    private final NodeView view;
    private final NodeContext node;
    private final TimerScheduler<NodeActor.Command> timers;
    private final HostedRanks ranks;
    private final NodeCopies copies;
    private final PartWriter parts = new PartWriter();
    private final Optional<WarmUp> warmUp;
    private boolean isHalting;
    private boolean isReleased;

    /** Starts the ranks of this node. */
    HostingNode(ActorContext<NodeActor.Command> context, TimerScheduler<NodeActor.Command> timers, NodeSetup setup,
            NodeLink link, NodeView view, NodeContext node, NodeActor.HostRanks host) {
        super(context);
        this.setup = setup;
        this.link = link;
        this.view = view;
        this.node = node;
        this.timers = timers;
        this.ranks = new HostedRanks(context, node, link.coordinator());
        this.copies = new NodeCopies(setup.name(), node,
                event -> link.coordinator().tell(new TrainingCoordinator.Happened(event)));
        ActorRef<NodeActor.Command> self = context.getSelf();
        node.copies().tell((rank, stage, stepsDone) -> self.tell(new NodeActor.CopyCame(rank, stage, stepsDone)));
        view.begin(host);
        view.position().reach(node.firstStep());
        this.warmUp = node.warmsUp() && view.ranksHere().isEmpty()
                ? Optional.of(WarmUp.start(node, view.position()::log))
                : Optional.empty();
        start(view.ranksHere(), node.firstStep());
    }

    @Override
    public Receive<NodeActor.Command> createReceive() {
        return newReceiveBuilder().onMessage(NodeActor.HostRanks.class, this::onHostRanks)
                .onMessage(NodeActor.EnterEpoch.class, this::onEnterEpoch)
                .onMessage(NodeActor.KeepCopies.class, this::onKeepCopies)
                .onMessage(NodeActor.Committed.class, this::onCommitted)
                .onMessage(NodeActor.WriteParts.class, this::onWriteParts)
                .onMessage(NodeActor.Join.class, _ -> onJoin())
                .onMessage(NodeActor.RunKernels.class, _ -> onRunKernels())
                .onMessage(NodeActor.CopyCame.class, this::onCopyCame)
                .onMessage(NodeActor.FreeRetired.class, _ -> onFreeRetired())
                .onMessage(NodeActor.RunEnded.class, this::onRunEnded)
                .onMessage(NodeActor.CoordinatorLost.class, this::onCoordinatorLost)
                .onMessage(NodeActor.NotCalled.class, _ -> onNotCalled())
                .onMessage(NodeActor.StopWaiting.class, _ -> this).onMessage(NodeActor.Halt.class, _ -> halt())
                .onMessage(NodeActor.GiveUp.class, _ -> release())
                .onSignal(ChildFailed.class, this::onChildFailed).onSignal(Terminated.class, this::onTerminated)
                .onSignal(PostStop.class, _ -> onPostStop()).build();
    }

    /** Says that it is here, with what it knows of the run, to a coordinator that takes over. */
    private Behavior<NodeActor.Command> onJoin() {
        link.join(Optional.of(view.report(node.plan(), node.snapshots().orElseThrow())));
        return this;
    }

    private Behavior<NodeActor.Command> onRunKernels() {
        return link.runKernels() ? onJoin() : this;
    }

    /** From a coordinator that takes over. */
    private Behavior<NodeActor.Command> onHostRanks(NodeActor.HostRanks host) {
        link.found(getContext(), host.coordinator());
        return this;
    }

    /**
     * A retired incarnation hands nothing over from now on; then the transport lets go of what it has of it; only then does
     * the next one say that it is there. A node whose ranks live elsewhere now is gone.
     */
    private Behavior<NodeActor.Command> onEnterEpoch(NodeActor.EnterEpoch enter) {
        if (isHalting || enter.epoch() <= view.epoch()) {
            return this;
        }
        view.enter(enter).forEach(lost -> node.copies().forget(setup.neighbours().indexOf(lost)));
        ranks.retire(enter.restarted(), view.position().stepsDone());
        if (!ranks.freeRetired()) {
            timers.startTimerWithFixedDelay(new NodeActor.FreeRetired(), LOOK_FOR_RETIRED);
        }
        NodeMap map = setup.neighbours().map(enter.hosts(), enter.since());
        node.transport().epoch(enter.epoch(), map);
        node.groups().enter(map);
        start(view.ranksHere().stream().filter(enter.restarted()::contains).toList(), enter.stepsDone());
        return this;
    }

    private void start(List<Integer> started, long stepsDone) {
        if (!started.isEmpty()) {
            warmUp.ifPresent(WarmUp::end); // so that its memory is free
        }
        ranks.start(started, view.epoch(), stepsDone);
    }

    private Behavior<NodeActor.Command> onFreeRetired() {
        if (ranks.freeRetired()) {
            timers.cancel(new NodeActor.FreeRetired());
        }
        return this;
    }

    private Behavior<NodeActor.Command> onKeepCopies(NodeActor.KeepCopies keep) {
        view.note(keep);
        node.copies().route(view.routes(setup.neighbours()::indexOf));
        // What a rank kept before this was heard may have gone elsewhere.
        for (long steps = keep.stepsDone(); steps <= keep.stepsDone() + 1; steps++) {
            copies.send(ranks.atWork(), steps);
            copies.tellAll(keep.buddies(), steps);
        }
        return this;
    }

    private Behavior<NodeActor.Command> onCopyCame(NodeActor.CopyCame came) {
        copies.tell(came.rank(), came.stepsDone());
        return this;
    }

    private Behavior<NodeActor.Command> onCommitted(NodeActor.Committed told) {
        view.note(told.commit());
        long before = told.commit().stepsDone() - 1; // nothing goes back further
        node.snapshots().ifPresent(kept -> view.unwanted().forEach(rank -> kept.forget(rank, before)));
        return this;
    }

    private Behavior<NodeActor.Command> onWriteParts(NodeActor.WriteParts order) {
        parts.start(order.attempt(), order.ranks(), node,
                answer -> link.coordinator().tell(new TrainingCoordinator.CheckpointHappened(answer)));
        return this;
    }

    private Behavior<NodeActor.Command> onRunEnded(NodeActor.RunEnded end) {
        link.end(end);
        return this;
    }

    /**
     * A coordinator of this JVM ends without a word where all its actors do: whoever started them knows why. Where its
     * node is lost, the run goes on under another, which needs to know how far it has come.
     */
    private Behavior<NodeActor.Command> onCoordinatorLost(NodeActor.CoordinatorLost lost) {
        if (lost.wasHere()) {
            return halt();
        }
        if (link.isOver()) {
            return this;
        }
        if (node.snapshots().isEmpty()) {
            link.fail(NodeLink.COORDINATOR_LOST);
            return this;
        }
        view.position().log("the node of the coordinator is gone; another is to take over");
        link.seek(MOST_WITHOUT_COORDINATOR);
        return this;
    }

    private Behavior<NodeActor.Command> onNotCalled() {
        link.fail(NodeLink.COORDINATOR_LOST + ", and no other took over within " + MOST_WITHOUT_COORDINATOR.toSeconds()
                + " seconds");
        return this;
    }

    private Behavior<NodeActor.Command> onChildFailed(ChildFailed failed) {
        ranks.failed(failed.getRef(), failed.getCause());
        return onGroupEnded();
    }

    private Behavior<NodeActor.Command> onTerminated(Terminated ended) {
        ranks.ended(ended.getRef());
        return onGroupEnded();
    }

    private Behavior<NodeActor.Command> onGroupEnded() {
        return isHalting && ranks.haveEnded() ? release() : this;
    }

    /** Has the ranks end; {@link #release} follows when they have, or after a while. */
    private Behavior<NodeActor.Command> halt() {
        if (!isHalting) {
            letGo();
            timers.startSingleTimer(new NodeActor.GiveUp(), THREAD_END);
        }
        return isReleased || ranks.haveEnded() ? release() : this;
    }

    private void letGo() {
        isHalting = true;
        warmUp.ifPresent(WarmUp::end);
        ranks.handOverNothing(); // what the transport gives back stays here
        node.faults().close();
        try {
            node.transport().close();
        } finally {
            ranks.stop();
        }
    }

    /** Frees all that nobody uses any more, and ends. */
    private Behavior<NodeActor.Command> release() {
        if (!isReleased) {
            isReleased = true;
            long deadlineNanos = System.nanoTime() + THREAD_END.toNanos();
            ranks.close(deadlineNanos);
            parts.awaitEnd(deadlineNanos);
            setup.release().run();
            link.released();
        }
        return Behaviors.stopped();
    }

    private Behavior<NodeActor.Command> onPostStop() {
        ranks.allEnded();
        if (!isHalting) {
            letGo();
        }
        release();
        return this;
    }
}
