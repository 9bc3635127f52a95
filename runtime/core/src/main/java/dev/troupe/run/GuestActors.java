package dev.troupe.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.run.actor.CoordinatorSetup;
import dev.troupe.run.actor.NodeActor;
import dev.troupe.run.actor.NodeSetup;
import dev.troupe.run.actor.TrainingCoordinator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.dispatch.DispatcherConfigurator;
import org.apache.pekko.dispatch.Dispatchers;

/** The actors of a run in an actor system of a program, which continues after the run. */
final class GuestActors implements RunActors {
    private static final String RANKS = "troupe.ranks";
    private static final AtomicLong STARTED = new AtomicLong();

    private final CompletableFuture<Done> released = new CompletableFuture<>();
    private final CompletableFuture<Done> ended = new CompletableFuture<>();
    private final ActorRef<Command> guardian;

    private sealed interface Command {
    }

    private record Passed(TrainingCoordinator.Command command) implements Command {
    }

    private record End() implements Command {
    }

    private GuestActors(ActorSystem<?> host, CoordinatorSetup coordinator, NodeSetup node) {
        this.guardian = host.systemActorOf(guardian(coordinator, node), "troupe-run-" + STARTED.incrementAndGet(),
                Props.empty());
    }

    /**
     * Starts the coordinator and the node of a run.
     *
     * @param actors the configuration of a run's own actor system, with the dispatcher of ranks
     */
    static GuestActors start(ActorSystem<?> host, Config actors, CoordinatorSetup coordinator, NodeSetup node) {
        Dispatchers dispatchers = Adapter.toClassic(host).dispatchers();
        if (!dispatchers.hasDispatcher(RANKS)) {
            Config settings = ConfigFactory.parseMap(Map.of("id", RANKS)).withFallback(actors.getConfig(RANKS))
                    .withFallback(host.settings().config().getConfig(Dispatchers.DefaultDispatcherId()));
            // If two runs start at the same time, the first one's is used, which is the same.
            dispatchers.registerConfigurator(RANKS, new DispatcherConfigurator(settings, dispatchers.prerequisites()));
        }
        return new GuestActors(host, coordinator, node);
    }

    /** A stage that waits for another rank does not end by itself, so the node halts its ranks before actors stop. */
    private Behavior<Command> guardian(CoordinatorSetup setup, NodeSetup hosting) {
        return Behaviors.setup(context -> {
            var coordinator = context.spawn(TrainingCoordinator.create(setup), "coordinator");
            var node = context.spawn(NodeActor.create(hosting.afterRelease(() -> released.complete(Done.getInstance())),
                    coordinator), hosting.name());
            context.watch(coordinator);
            context.watch(node);
            NodeActor.Command halt = new NodeActor.Told(new NodeEvent.Halt());
            return Behaviors.receive(Command.class).onMessage(Passed.class, passed -> {
                coordinator.tell(passed.command());
                return Behaviors.same();
            }).onMessage(End.class, _ -> {
                node.tell(halt);
                return Behaviors.same();
            }).onSignal(Terminated.class, terminated -> {
                hosting.reports().position().met(terminated instanceof ChildFailed failed ? failed.getCause() : null);
                if (terminated.getRef().equals(node)) {
                    return Behaviors.stopped();
                }
                node.tell(halt);
                return Behaviors.same();
            }).onSignal(PostStop.class, _ -> {
                ended.complete(Done.getInstance());
                return Behaviors.same();
            }).build();
        });
    }

    @Override
    public void tell(TrainingCoordinator.Command command) {
        guardian.tell(new Passed(command));
    }

    @Override
    public void end() {
        guardian.tell(new End());
    }

    @Override
    public CompletableFuture<Done> whenEnded() {
        return ended;
    }

    @Override
    public void beforeEnd(Runnable task) {
        released.thenRun(task);
    }
}
