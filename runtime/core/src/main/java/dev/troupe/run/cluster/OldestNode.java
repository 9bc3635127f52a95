package dev.troupe.run.cluster;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.run.CoordinatorOf;
import dev.troupe.run.LateListener;
import dev.troupe.run.RunActors;
import dev.troupe.run.actor.NodeActor;
import dev.troupe.run.actor.TrainingCoordinator;
import dev.troupe.run.cluster.status.StatusBoard;
import dev.troupe.run.cluster.status.StatusNews;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.RunOutcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.ClusterSingleton;
import org.apache.pekko.cluster.typed.SingletonActor;

/**
 * The coordinator on the oldest node, to which requests to this node are sent.
 *
 * @param repeated the request to stop that was sent last
 */
record OldestNode(ActorRef<TrainingCoordinator.Command> coordinator,
        AtomicReference<TrainingCoordinator.Stop> repeated) implements RunActors.Lead {
    private static final Duration STOP_AGAIN = Duration.ofSeconds(1);

    static OldestNode of(ActorSystem<?> system, Behavior<TrainingCoordinator.Command> singleton) {
        return new OldestNode(ClusterSingleton.get(system).init(SingletonActor.of(singleton, "coordinator")),
                new AtomicReference<>());
    }

    @Override
    public Optional<Duration> pass(TrainingCoordinator.Command command, ActorRef<NodeActor.Command> node) {
        Optional<Duration> again = Optional.empty();
        if (command instanceof TrainingCoordinator.Stop stop) {
            // The request is repeated, since a coordinator may be lost after it; if there is no coordinator yet, the
            // node ends alone. A second request of the user is not a repetition: a coordinator that begins the run now
            // has not passed on the first one yet.
            if (repeated.getAndSet(stop) == stop) {
                node.tell(new NodeActor.Happened(new NodeEvent.StopWaiting()));
            }
            again = Optional.of(STOP_AGAIN);
        } else if (command instanceof TrainingCoordinator.OthersStart) {
            node.tell(new NodeActor.Happened(new NodeEvent.OthersStart()));
        }
        coordinator.tell(command);
        return again;
    }

    static Behavior<TrainingCoordinator.Command> coordinator(PreparedRun run, ClusterSpec cluster,
            Map<String, String> keys, Leader leader, CompletableFuture<RunOutcome> outcome, FaultInjector faults,
            ClusterDamage damage) {
        Map<String, List<Integer>> ranks = new TreeMap<>();
        cluster.nodes().forEach(node -> ranks.put(node.name(), node.ranks()));
        Path directory = run.request().output().toAbsolutePath();
        return Behaviors.setup(context -> {
            if (outcome.isDone()) {
                return Behaviors.stopped(); // the run is over, and the coordinator's node has ended first
            }
            damage.lead();
            StatusBoard board = StatusBoard.of(context.getSystem().classicSystem());
            // The first coordinator is on the node that formed the cluster; a coordinator on any other node takes over from
            // a lost one. Each coordinator is on the oldest member, so later ones are on younger members: the member's age
            // is the term.
            int term = Cluster.get(context.getSystem()).selfMember().upNumber();
            boolean isFirst = term == 1;
            Map<String, String> alike = new TreeMap<>(keys);
            if (!isFirst) {
                alike.remove(Roster.STEPS_BEHIND);
            }
            Leader.TakenOver led;
            try {
                led = isFirst
                        ? new Leader.TakenOver(new LateListener(leader::lead, leader::waitFor), EarlierSteps.NONE)
                        : leader.takeOver();
            } catch (RuntimeException refused) {
                outcome.complete(RunOutcome.refused(refused.getMessage()));
                return Behaviors.stopped();
            }
            StatusNews status = new StatusNews(board, RunFacts.of(run, run.stepsDone()));
            return TrainingCoordinator.create(CoordinatorOf.run(run,
                    new Roster(ranks, alike, cluster.joinTimeout(),
                            run.planned().keepsCopies()
                                    ? ClusterNeighbours.buddies(cluster)
                                    : ReplicaTable.Buddies.NONE),
                    term, () -> LostNodes.present(context.getSystem()), directory, faults.clock(System::nanoTime),
                    status.then(led.listener()), led.earlier(), outcome));
        });
    }
}
