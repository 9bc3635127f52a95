package dev.troupe.actor;

import dev.troupe.observe.RunOutcome;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.WarmUpReport;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * The way of a node to its coordinator: it says that it is there until it is told what to host, and waits for that no
 * longer than its patience. Belongs to the node's actor, in each of its phases.
 */
final class NodeLink {
    static final String COORDINATOR_LOST = "the node of the coordinator ended before the run did; its log says why";

    /** The timer that runs until the node is told what to host. */
    private static final String WAITING = "waiting";

    /** The timer that runs as long, and while the node waits for another coordinator. */
    private static final String JOINING = "joining";
    private static final Duration SAY_AGAIN = Duration.ofMillis(500);

    private final NodeSetup setup;
    private final ActorRef<NodeActor.Command> self;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final TimerScheduler<NodeActor.Command> timers;
    private final CompletableFuture<Done> released = new CompletableFuture<>();
    private final Cancellable haltsFirst;
    private boolean runsKernels;
    private boolean isOver;

    NodeLink(NodeSetup setup, ActorContext<NodeActor.Command> context,
            ActorRef<TrainingCoordinator.Command> coordinator, TimerScheduler<NodeActor.Command> timers) {
        this.setup = setup;
        this.self = context.getSelf();
        this.coordinator = coordinator;
        this.timers = timers;
        // An actor ends after its children, and a stage that waits for another rank does not end by itself. So the node
        // hears of the end of the actor system before its actors do.
        this.haltsFirst = CoordinatedShutdown.get(context.getSystem()).addCancellableTask(
                CoordinatedShutdown.PhaseBeforeActorSystemTerminate(), "troupe-node-halts",
                () -> {
                    self.tell(new NodeActor.Halt());
                    return released;
                });
    }

    ActorRef<TrainingCoordinator.Command> coordinator() {
        return coordinator;
    }

    /** Says that the node is there, now and again, and waits so long to be told what to host. */
    void seek(Duration patience) {
        await(patience);
        timers.startTimerWithFixedDelay(JOINING, new NodeActor.Join(), Duration.ZERO, SAY_AGAIN);
    }

    /** Begins the wait anew. */
    void await(Duration patience) {
        timers.startSingleTimer(WAITING, new NodeActor.NotCalled(), patience);
    }

    /** Whether the node still waits to be told what to host. */
    boolean waits() {
        return timers.isTimerActive(WAITING);
    }

    /** A coordinator has told the node what to host; the node hears of its end. */
    void found(ActorContext<NodeActor.Command> context, ActorRef<TrainingCoordinator.Command> leads) {
        timers.cancel(WAITING);
        timers.cancel(JOINING);
        context.watchWith(leads, new NodeActor.CoordinatorLost(leads.path().address().hasLocalScope()));
    }

    /** From now on the node says how far it is with running its kernels; whether it was not told to run them before. */
    boolean runKernels() {
        boolean isFirst = !runsKernels;
        runsKernels = true;
        return isFirst;
    }

    /** Says that the node is there, and what it knows of the run. */
    void join(Optional<NodeReport> report) {
        coordinator.tell(new TrainingCoordinator.NodeJoined(self, setup.name(), setup.keys(),
                setup.neighbours().door(), report, runsKernels ? setup.warmUp().get() : WarmUpReport.UNDER_WAY));
    }

    /** The coordinator has ended the run. */
    void end(NodeActor.RunEnded end) {
        isOver = true;
        setup.ended().accept(new RunOutcome(end.stepsDone(), end.failure()));
    }

    /** Whether the coordinator has ended the run. */
    boolean isOver() {
        return isOver;
    }

    /** The run has failed for this node; without effect where it is over. */
    void fail(String why) {
        if (!isOver) {
            setup.ended().accept(new RunOutcome(0, Optional.of(why)));
        }
    }

    /** The node has given back all that it can: it need not be told of the end of the actor system, which may follow. */
    void released() {
        haltsFirst.cancel();
        released.complete(Done.getInstance());
    }
}
