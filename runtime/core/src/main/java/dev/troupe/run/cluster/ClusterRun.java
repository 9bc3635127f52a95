package dev.troupe.run.cluster;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.protocol.membership.Roster;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.replica.ReplicaTable;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.rank.fault.FaultyTransport;
import dev.troupe.rank.group.NodeGroups;
import dev.troupe.rank.snapshot.CopyRoutes;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.rank.trace.Pauses;
import dev.troupe.run.CoordinatorOf;
import dev.troupe.run.LateListener;
import dev.troupe.run.RunActors;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.actor.NodeActor;
import dev.troupe.run.actor.NodeSetup;
import dev.troupe.run.actor.TrainingCoordinator;
import dev.troupe.run.cluster.guard.KeyFile;
import dev.troupe.run.cluster.guard.SealedSerializer;
import dev.troupe.run.cluster.liveness.LivenessConnections;
import dev.troupe.run.cluster.liveness.Sockets;
import dev.troupe.run.cluster.status.NodeStatus;
import dev.troupe.run.cluster.status.StatusBoard;
import dev.troupe.run.cluster.status.StatusNews;
import dev.troupe.run.cluster.tls.Certificates;
import dev.troupe.run.cluster.tls.MutualTls;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.RunPosition;
import dev.troupe.snapshot.copy.SnapshotCopies;
import dev.troupe.snapshot.stream.StreamedCopies;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.SharedDriver;
import dev.troupe.transport.link.LinkTransport;
import dev.troupe.transport.tcp.Connections;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.ClusterSingleton;
import org.apache.pekko.cluster.typed.SingletonActor;
import org.apache.pekko.remote.RemoteTransportException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The start of one node of a run over several JVMs. Every node has the same configuration and prepares the same run. */
public final class ClusterRun {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterRun.class);

    /** The wait of a node that finds no coordinator; the coordinator itself refuses a node that comes too late. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    private static final Duration STOP_AGAIN = Duration.ofSeconds(1);

    private ClusterRun() {
    }

    /**
     * Joins the cluster, or forms it, and takes part in the run until it ends.
     *
     * @param run the run as prepared by this node, with the engine of this node
     * @param version version of Troupe, which must be the same on all nodes
     * @throws UsageException if a certificate is wrong, a port is taken, or the machine's media driver cannot be found
     * @throws dev.troupe.transport.TransportException if the transport cannot start
     * @throws dev.troupe.plan.StartException if the actors cannot start; another attempt may succeed
     */
    public static TrainingRun join(PreparedRun run, NodeSpec self, String version, Leader leader) {
        ClusterSpec cluster = run.spec().cluster().orElseThrow();
        cluster.tls().ifPresent(Certificates::requireSound);
        Ports.requireFree(cluster, self);
        cluster.exposure().ifPresent(LOG::warn);
        boolean mayForm = run.request().share().orElseThrow().leads();
        Path directory = run.request().output().toAbsolutePath().normalize();
        RunKey key = KeyFile.of(directory);
        Resources resources = Resources.open(run, self, key);
        CompletableFuture<RunOutcome> outcome = new CompletableFuture<>();
        Map<String, String> keys = CompatibilityKeys.of(run, version);
        LostNodes lost = new LostNodes();
        RunPosition position = new RunPosition();
        ClusterDamage damage = new ClusterDamage(MachineDriver.directory(run.spec(), cluster, self.host()),
                resources.connections());
        FaultInjector faults = FaultInjector.of(run.spec().faults(), run.request().output(), self.name(), damage);
        NodeKernels kernels = new NodeKernels(run, self.ranks());
        RunActors actors;
        try {
            NodeSetup node = new NodeSetup(self.name(), keys, cluster.joinTimeout().plus(GRACE),
                    run.plan().stepsPerPass(),
                    new ClusterNeighbours(cluster, run.plan(), self, resources.receiverId()), kernels,
                    named -> TrainingRun.context(run, KeyFile.requireOwn(directory, named),
                            faulty(run, self, resources.transport(), faults, damage), resources.groups(),
                            resources.snapshots(), resources.routes(), Optional.empty(), resources.pauses(), faults),
                    resources.transport(), resources::release,
                    new NodeSetup.Reports(position, outcome::complete, Optional.of(why -> {
                        position.log("cannot use its device again: " + why);
                        leader.loseDevice(why);
                        outcome.complete(new RunOutcome(run.stepsDone(), Optional.of(why)));
                    })));
            Behavior<TrainingCoordinator.Command> coordinator = coordinator(run, cluster, keys, leader, outcome, faults,
                    damage);
            actors = RunActors.own(ClusterSettings.systemName(cluster), SealedSerializer.sealed(
                    ClusterSettings.of(cluster, self, mayForm, run.spec().faults()), key), node, guardian -> {
                        guardian.spawn(lost.follow(), "lost-nodes");
                        guardian.spawn(DeadNodes.follow(cluster, resources.connections(), position), "dead-nodes");
                        return OldestNode.of(guardian.getSystem(), coordinator);
                    }, SealedSerializer.key(key));
        } catch (Exception | Error failure) { // Scala throws checked exceptions past the compiler
            resources.close();
            throw failure instanceof RemoteTransportException
                    ? Ports.refused(self, "control-port", self.controlPort(), failure)
                    : UserErrors.ofStart("node " + self.name(), failure);
        }
        try {
            damage.has(new ControlLink(actors.system()));
            if (!mayForm) {
                KeyFile.check(resources.port(), directory, cluster, self,
                        why -> outcome.complete(RunOutcome.refused(why)));
            }
            serve(run, cluster, self, actors.system(), leader, outcome);
        } catch (Exception | Error failure) {
            actors.end(); // which releases the resources
            throw UserErrors.ofStart("node " + self.name(), failure);
        }
        return new TrainingRun(actors, outcome, position, run.stepsDone(),
                () -> lost.whyEnded(self.name()));
    }

    /** Opens the node's management port, if it has one. */
    private static void serve(PreparedRun run, ClusterSpec cluster, NodeSpec self, ActorSystem<?> system,
            Leader leader, CompletableFuture<RunOutcome> outcome) {
        StatusBoard.of(system.classicSystem()).set(NodeStatus.of(self.name(), self.ranks()));
        if (self.managementPort() == 0) {
            return;
        }
        RunPage page = new RunPage(run.request().output());
        try {
            ManagementPort.open(system.classicSystem(), cluster, self, page, leader.addTo(page.routes()));
        } catch (IOException taken) {
            outcome.complete(RunOutcome
                    .refused(Ports.refused(self, "management-port", self.managementPort(), taken).getMessage()));
        }
    }

    private static Transport faulty(PreparedRun run, NodeSpec self, Transport transport, FaultInjector faults,
            ClusterDamage damage) {
        if (faults.isIdle()) {
            return transport;
        }
        FaultyTransport faulty = new FaultyTransport(transport, run.faultyMessages(), faults, run.plan()::senderOf,
                run.plan().training().plan().microbatchesPerStep(), self.ranks()::contains);
        damage.has(faulty);
        return faulty;
    }

    private static Behavior<TrainingCoordinator.Command> coordinator(PreparedRun run, ClusterSpec cluster,
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

    /**
     * The coordinator on the oldest node, to which requests to this node are sent.
     *
     * @param repeated the request to stop that was sent last
     */
    private record OldestNode(ActorRef<TrainingCoordinator.Command> coordinator,
            AtomicReference<TrainingCoordinator.Stop> repeated) implements RunActors.Lead {
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
    }

    /** The transport of a node's tensors, and the connections by which the others notice its end. */
    private record Resources(DataPort port, LivenessConnections connections, Optional<SharedDriver> driver,
            Transport transport, NodeGroups groups, Optional<Snapshots> snapshots, CopyRoutes routes,
            Optional<SnapshotCopies> copies, Pauses pauses) {
        static Resources open(PreparedRun run, NodeSpec self, RunKey key) {
            ClusterSpec cluster = run.spec().cluster().orElseThrow();
            DataPort port = listen(self, key);
            Optional<MutualTls> tls = cluster.tls().map(MutualTls::new);
            LivenessConnections connections = new LivenessConnections(cluster, self,
                    tls.<Sockets>map(each -> each).orElse(Sockets.PLAIN), port);
            try {
                return open(run, self, port, connections, nodes -> new Connections(nodes, port, tls.map(each -> each)));
            } catch (RuntimeException failure) {
                connections.close();
                throw failure;
            }
        }

        /** Opens the data port before the node joins, since nodes that find it in the cluster call it. */
        private static DataPort listen(NodeSpec self, RunKey key) {
            try {
                return DataPort.open(new InetSocketAddress(self.host(), self.dataPort()), key);
            } catch (IOException taken) {
                throw Ports.refused(self, "data-port", self.dataPort(), taken);
            }
        }

        private static Resources open(PreparedRun run, NodeSpec self, DataPort port,
                LivenessConnections connections,
                Function<NodeMap, Connections> tensors) {
            RunSpec spec = run.spec();
            ClusterSpec cluster = spec.cluster().orElseThrow();
            Optional<SharedDriver> driver = MachineDriver.find(run.planned(), self);
            try {
                Path directory = MachineDriver.directory(spec, cluster, self.host());
                TransportSettings settings = MachineDriver.settings(run.planned(), directory);
                NodeMap nodes = MachineDriver.map(cluster, run.plan(), self);
                Optional<Connections> between = LinkTransport.needsConnections(nodes, settings)
                        ? Optional.of(tensors.apply(nodes))
                        : Optional.empty();
                Transport transport = LinkTransport.start(nodes, settings, between, run.faultyMessages());
                try {
                    CopyRoutes routes = new CopyRoutes();
                    Optional<Snapshots> snapshots = TrainingRun.snapshots(run,
                            run.planned().keepsCopies() && cluster.nodesOn(self.host()).size() > 1);
                    Optional<SnapshotCopies> copies = snapshots.filter(_ -> run.planned().keepsCopies()).map(
                            kept -> StreamedCopies.connect(nodes, settings, directory, between, kept, routes));
                    copies.ifPresent(routes::over);
                    return new Resources(port, connections, driver, transport,
                            NodeGroups.connect(run.plan().ranks(), nodes,
                                    directory, between, TrainingRun.groupDeadline(run)),
                            snapshots, routes, copies, new Pauses());
                } catch (RuntimeException failure) {
                    transport.close();
                    throw failure;
                }
            } catch (RuntimeException failure) {
                driver.ifPresent(SharedDriver::close);
                throw failure;
            }
        }

        int receiverId() {
            return copies.map(SnapshotCopies::receiverId).orElse(0);
        }

        /** Closes the rest after the transport. */
        void release() {
            transport.counters().droppedInWords().ifPresent(LOG::info);
            groups.close();
            copies.ifPresent(SnapshotCopies::close);
            snapshots.ifPresent(Snapshots::close);
            pauses.close();
            driver.ifPresent(SharedDriver::close);
            connections.close();
        }

        void close() {
            try {
                transport.close();
            } finally {
                release();
            }
        }
    }
}
