package dev.troupe.run;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.run.actor.NodeActor;
import dev.troupe.run.actor.NodeSetup;
import dev.troupe.run.actor.TrainingCoordinator;
import dev.troupe.run.setup.CoordinatorSetup;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.apache.pekko.Done;
import org.apache.pekko.actor.setup.Setup;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.ChildFailed;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.dispatch.DispatcherConfigurator;
import org.apache.pekko.dispatch.Dispatchers;

/**
 * The actors of a run in one JVM: their guardian, its node, and the coordinator or a proxy of it. They have their own actor
 * system, which ends with them, or are guests in the system of a program. Thread rule: any thread.
 */
public final class RunActors {
    private static final String RANKS = "troupe.ranks";
    private static final AtomicLong GUESTS = new AtomicLong();

    private final ActorSystem<?> system;
    private final ActorRef<Command> guardian;
    private final CompletableFuture<Done> released;
    private final CompletableFuture<Done> ended;
    private final Runnable end;

    private sealed interface Command {
    }

    private record Passed(TrainingCoordinator.Command command) implements Command {
    }

    private record End() implements Command {
    }

    /** The coordinator from the view of one node's guardian. Thread rule: the guardian's actor. */
    public interface Lead {
        ActorRef<TrainingCoordinator.Command> coordinator();

        /**
         * Sends a command of this JVM to the coordinator, and also to the node if it concerns the node.
         *
         * @return the time after which the guardian sends the command again; empty: it is sent once
         */
        Optional<Duration> pass(TrainingCoordinator.Command command, ActorRef<NodeActor.Command> node);
    }

    private record Child(ActorRef<TrainingCoordinator.Command> coordinator) implements Lead {
        @Override
        public Optional<Duration> pass(TrainingCoordinator.Command command, ActorRef<NodeActor.Command> node) {
            coordinator.tell(command);
            return Optional.empty();
        }
    }

    private RunActors(ActorSystem<?> system, ActorRef<Command> guardian, CompletableFuture<Done> released,
            CompletableFuture<Done> ended, Runnable end) {
        this.system = system;
        this.guardian = guardian;
        this.released = released;
        this.ended = ended;
        this.end = end;
    }

    /** Returns a coordinator that is a child of the guardian. */
    static Function<ActorContext<?>, Lead> child(CoordinatorSetup setup) {
        return guardian -> new Child(guardian.spawn(TrainingCoordinator.create(setup), "coordinator"));
    }

    /**
     * Starts the actors in a system of their own.
     *
     * @param lead starts or finds the coordinator
     */
    public static RunActors own(String name, Config config, NodeSetup node, Function<ActorContext<?>, Lead> lead,
            Setup... more) {
        CompletableFuture<Done> released = new CompletableFuture<>();
        ActorSystem<Command> system = ActorSystems.create(guardian(node, lead, released, new CompletableFuture<>()),
                name, config, more);
        return new RunActors(system, system, released, system.getWhenTerminated().toCompletableFuture(),
                system::terminate);
    }

    /**
     * Starts the actors in the system of a program, which continues after the run. They end by the halt of their node.
     *
     * @param config the configuration of a run's own actor system, with the dispatcher of ranks
     */
    static RunActors guest(ActorSystem<?> host, Config config, NodeSetup node, Function<ActorContext<?>, Lead> lead) {
        Dispatchers dispatchers = Adapter.toClassic(host).dispatchers();
        if (!dispatchers.hasDispatcher(RANKS)) {
            Config settings = ConfigFactory.parseMap(Map.of("id", RANKS)).withFallback(config.getConfig(RANKS))
                    .withFallback(host.settings().config().getConfig(Dispatchers.DefaultDispatcherId()));
            // If two runs start at the same time, the first one's is used; both are equal.
            dispatchers.registerConfigurator(RANKS, new DispatcherConfigurator(settings, dispatchers.prerequisites()));
        }
        CompletableFuture<Done> released = new CompletableFuture<>();
        CompletableFuture<Done> ended = new CompletableFuture<>();
        ActorRef<Command> guardian = host.systemActorOf(guardian(node, lead, released, ended),
                "troupe-run-" + GUESTS.incrementAndGet(), Props.empty());
        return new RunActors(host, guardian, released, ended, () -> guardian.tell(new End()));
    }

    /**
     * The guardian, which ends with its node. A stage that waits for another rank does not end on its own, so the node halts
     * its ranks before actors stop.
     */
    private static Behavior<Command> guardian(NodeSetup hosting, Function<ActorContext<?>, Lead> leads,
            CompletableFuture<Done> released, CompletableFuture<Done> ended) {
        NodeSetup setup = hosting.afterRelease(() -> released.complete(Done.getInstance()));
        NodeActor.Command halt = new NodeActor.Happened(new NodeEvent.Halt());
        return Behaviors.setup(context -> Behaviors.withTimers(timers -> {
            Lead lead = leads.apply(context);
            var node = context.spawn(NodeActor.create(setup, lead.coordinator()), "node");
            context.watch(lead.coordinator());
            context.watch(node);
            return Behaviors.receive(Command.class).onMessage(Passed.class, passed -> {
                lead.pass(passed.command(), node)
                        .ifPresent(delay -> timers.startSingleTimer(passed.command().getClass(), passed, delay));
                return Behaviors.same();
            }).onMessage(End.class, _ -> {
                node.tell(halt);
                return Behaviors.same();
            }).onSignal(Terminated.class, terminated -> {
                setup.reports().position().met(terminated instanceof ChildFailed failed ? failed.getCause() : null);
                if (terminated.getRef().equals(node)) {
                    return Behaviors.stopped();
                }
                node.tell(halt);
                return Behaviors.same();
            }).onSignal(PostStop.class, _ -> {
                ended.complete(Done.getInstance());
                return Behaviors.same();
            }).build();
        }));
    }

    public ActorSystem<?> system() {
        return system;
    }

    void tell(TrainingCoordinator.Command command) {
        guardian.tell(new Passed(command));
    }

    /** Ends the actors; a second call has no effect. */
    public void end() {
        end.run();
    }

    CompletableFuture<Done> whenEnded() {
        return ended;
    }

    /** Runs a task once the node has released all it can, before the last actor ends. */
    void beforeEnd(Runnable task) {
        released.thenRun(task);
    }
}
