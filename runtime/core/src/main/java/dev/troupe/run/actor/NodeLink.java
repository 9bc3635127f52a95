package dev.troupe.run.actor;

import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.node.NodeCommand;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.RunEvent;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.RunPosition;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/** A node's timers, and its connections to the coordinator, the log and its process. Thread rule: the node's actor. */
final class NodeLink {
    private static final Duration ASK_AGAIN = Duration.ofMillis(500);
    private static final Duration LOOK_AGAIN = Duration.ofMillis(200);

    private final NodeSetup setup;
    private final ActorContext<NodeActor.Command> context;
    private final ActorRef<TrainingCoordinator.Command> coordinator;
    private final TimerScheduler<NodeActor.Command> timers;
    private final CompletableFuture<Done> released = new CompletableFuture<>();
    private final Cancellable haltsFirst;

    NodeLink(NodeSetup setup, ActorContext<NodeActor.Command> context,
            ActorRef<TrainingCoordinator.Command> coordinator, TimerScheduler<NodeActor.Command> timers) {
        this.setup = setup;
        this.context = context;
        this.coordinator = coordinator;
        this.timers = timers;
        // An actor ends after its children, and a stage that waits for another rank does not end on its own. So the node is
        // notified of the end of the actor system before its actors are.
        ActorRef<NodeActor.Command> self = context.getSelf();
        this.haltsFirst = CoordinatedShutdown.get(context.getSystem()).addCancellableTask(
                CoordinatedShutdown.PhaseBeforeActorSystemTerminate(), "troupe-node-halts",
                () -> {
                    self.tell(new NodeActor.Happened(new NodeEvent.Halt()));
                    return released;
                });
    }

    ActorRef<TrainingCoordinator.Command> coordinator() {
        return coordinator;
    }

    RunPosition position() {
        return setup.reports().position();
    }

    /** Notifies the node of the end of the coordinator of this term. */
    void watch(int term, ActorRef<TrainingCoordinator.Command> leader) {
        context.watchWith(leader,
                new NodeActor.Happened(new NodeEvent.CoordinatorLost(term, leader.path().address().hasLocalScope())));
    }

    void perform(NodeCommand.OfLink command) {
        switch (command) {
            case NodeCommand.Await(Duration patience) -> startTimer(new NodeEvent.PatienceOver(), patience);
            case NodeCommand.StartAsking() -> {
                NodeActor.Happened due = new NodeActor.Happened(new NodeEvent.AskDue());
                timers.startTimerWithFixedDelay(due, due, Duration.ZERO, ASK_AGAIN);
            }
            case NodeCommand.StopAsking() -> {
                timers.cancel(new NodeActor.Happened(new NodeEvent.PatienceOver()));
                timers.cancel(new NodeActor.Happened(new NodeEvent.AskDue()));
            }
            case NodeCommand.LookLater() -> startTimer(new NodeEvent.LookDue(), LOOK_AGAIN);
            case NodeCommand.AwaitEnds() -> startTimer(new NodeEvent.EndOverdue(), HostedRun.THREAD_END);
            case NodeCommand.Ask(int term, var report, boolean runsKernels) ->
                coordinator.tell(new TrainingCoordinator.NodeJoined(context.getSelf(), setup.name(), setup.keys(),
                        setup.neighbours().receiverId(), term, report,
                        runsKernels ? setup.warmUp().get() : WarmUpReport.IN_PROGRESS));
            case NodeCommand.Report(var event) -> coordinator.tell(new TrainingCoordinator.Happened(event));
            case NodeCommand.Abandon(String why) -> setup.reports().lost().ifPresentOrElse(end -> end.accept(why),
                    () -> coordinator.tell(new TrainingCoordinator.Happened(new RunEvent.NodeLost(setup.name(), why))));
            case NodeCommand.Reach(int epoch, long stepsDone) -> setup.reports().position().reach(epoch, stepsDone);
            case NodeCommand.Log(String line) -> setup.reports().position().log(line);
            case NodeCommand.End(long stepsDone, var failure) ->
                setup.reports().ended().accept(new RunOutcome(stepsDone, failure));
            case NodeCommand.Refuse(String why) -> setup.reports().ended().accept(RunOutcome.refused(why));
        }
    }

    private void startTimer(NodeEvent event, Duration delay) {
        timers.startSingleTimer(new NodeActor.Happened(event), delay);
    }

    /** Ends the node's part in the end of the actor system: it has released all that it can, so it need not be notified. */
    void released() {
        haltsFirst.cancel();
        released.complete(Done.getInstance());
    }
}
