package dev.troupe.run.actor;

import dev.troupe.plan.error.Reason;
import dev.troupe.protocol.node.NodeCommand;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.node.NodeMachine;
import dev.troupe.run.actor.supervision.FatalErrors;
import java.nio.file.Path;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/** The actor of one JVM of the run: the shell around its {@link NodeMachine}. */
public final class NodeActor extends AbstractBehavior<NodeActor.Command> {
    public sealed interface Command {
    }

    /** An order of a coordinator, or an event on the node. */
    public record Happened(NodeEvent event) implements Command {
    }

    /**
     * The order to host the ranks of this node.
     *
     * @param coordinator the coordinator that gives the order; the node watches for its end
     */
    record HostRanks(int term, NodeEvent.HostRanks order,
            ActorRef<TrainingCoordinator.Command> coordinator) implements Command {
    }

    private final NodeSetup setup;
    private final NodeLink link;
    private final NodeMachine machine;
    private NodeRun run;

    private NodeActor(ActorContext<Command> context, TimerScheduler<Command> timers, NodeSetup setup,
            ActorRef<TrainingCoordinator.Command> coordinator) {
        super(context);
        this.setup = setup;
        this.link = new NodeLink(setup, context, coordinator, timers);
        this.machine = new NodeMachine(setup.name(), setup.patience(), setup.stepsPerPass());
        this.run = new NodeRun.NotOpen(setup.transport());
        take(new NodeEvent.Begin());
    }

    /**
     * Joins the run and hosts the ranks that it is given. The node closes the transport and all memory when it stops, or
     * before the actor system ends, whichever is first.
     */
    public static Behavior<Command> create(NodeSetup setup, ActorRef<TrainingCoordinator.Command> coordinator) {
        return FatalErrors.contained(Command.class, Behaviors.setup(context -> Behaviors
                .withTimers(timers -> new NodeActor(context, timers, setup, coordinator))));
    }

    @Override
    public Receive<Command> createReceive() {
        return newReceiveBuilder().onMessage(Happened.class, happened -> take(happened.event()))
                .onMessage(HostRanks.class, this::onHostRanks)
                .onSignal(Terminated.class, signal -> take(run.ended(signal)))
                .onSignal(PostStop.class, _ -> take(new NodeEvent.AllEnded())).build();
    }

    private Behavior<Command> onHostRanks(HostRanks host) {
        link.watch(host.term(), host.coordinator());
        return take(new NodeEvent.Ordered(host.term(), host.order()));
    }

    private Behavior<Command> take(NodeEvent event) {
        Behavior<Command> next = this;
        for (NodeCommand command : machine.on(event)) {
            switch (command) {
                case NodeCommand.OfLink ofLink -> link.perform(ofLink);
                case NodeCommand.OfRun ofRun -> run.perform(ofRun);
                case NodeCommand.Open(String directory) -> take(open(directory));
                case NodeCommand.LetGo() -> run.letGo();
                case NodeCommand.Release(var running) -> {
                    run.close(running);
                    setup.release().run();
                    link.released();
                }
                case NodeCommand.Stop() -> next = Behaviors.stopped();
            }
        }
        return next;
    }

    private NodeEvent open(String directory) {
        try {
            HostedRun opened = new HostedRun(getContext(), setup, link, setup.context().apply(Path.of(directory)));
            run = opened;
            return opened.opened();
        } catch (Throwable failure) { // the run's directory, or a file that it reads from there
            setup.reports().position().met(failure);
            return new NodeEvent.CannotOpen(Reason.of(failure));
        }
    }
}
