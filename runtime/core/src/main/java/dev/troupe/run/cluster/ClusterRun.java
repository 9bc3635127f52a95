package dev.troupe.run.cluster;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.port.RunKey;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.rank.fault.FaultyTransport;
import dev.troupe.run.NodeParts;
import dev.troupe.run.RunActors;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.actor.NodeSetup;
import dev.troupe.run.actor.TrainingCoordinator;
import dev.troupe.run.cluster.guard.KeyFile;
import dev.troupe.run.cluster.guard.SealedSerializer;
import dev.troupe.run.cluster.machine.MachineDriver;
import dev.troupe.run.cluster.machine.Ports;
import dev.troupe.run.cluster.status.NodeStatus;
import dev.troupe.run.cluster.status.StatusBoard;
import dev.troupe.run.cluster.tls.Certificates;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.RunPosition;
import dev.troupe.transport.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.remote.RemoteTransportException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The start of one node of a run over several JVMs. Every node has the same configuration and prepares the same run. */
public final class ClusterRun {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterRun.class);

    /** The wait of a node that finds no coordinator; the coordinator itself refuses a node that comes too late. */
    private static final Duration GRACE = Duration.ofSeconds(5);

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
        NodeResources resources = NodeResources.open(run, self, key);
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
                    named -> resources.parts().context(run, KeyFile.requireOwn(directory, named),
                            faulty(run, self, resources.transport(), faults, damage), Optional.empty(), faults),
                    resources.transport(), resources::release,
                    new NodeSetup.Reports(position, outcome::complete, Optional.of(why -> {
                        position.log("cannot use its device again: " + why);
                        leader.loseDevice(why);
                        outcome.complete(new RunOutcome(run.stepsDone(), Optional.of(why)));
                    })));
            Behavior<TrainingCoordinator.Command> coordinator = OldestNode.coordinator(run, cluster, keys, leader,
                    outcome, faults,
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
            serve(cluster, self, actors.system(), leader, outcome);
        } catch (Exception | Error failure) {
            actors.end(); // which releases the resources
            throw UserErrors.ofStart("node " + self.name(), failure);
        }
        return new TrainingRun(actors, outcome, position, run.stepsDone(),
                () -> lost.whyEnded(self.name()));
    }

    /** Opens the node's management port, if it has one. */
    private static void serve(ClusterSpec cluster, NodeSpec self, ActorSystem<?> system,
            Leader leader, CompletableFuture<RunOutcome> outcome) {
        StatusBoard.of(system.classicSystem()).set(NodeStatus.of(self.name(), self.ranks()));
        if (self.managementPort() == 0) {
            return;
        }
        try {
            ManagementPort.open(system.classicSystem(), cluster, self, leader.page());
        } catch (IOException taken) {
            outcome.complete(RunOutcome
                    .refused(Ports.refused(self, "management-port", self.managementPort(), taken).getMessage()));
        }
    }

    private static Transport faulty(PreparedRun run, NodeSpec self, Transport transport, FaultInjector faults,
            ClusterDamage damage) {
        Optional<FaultyTransport> faulty = NodeParts.faulty(run, transport, faults, self.ranks()::contains);
        faulty.ifPresent(damage::has);
        return faulty.<Transport>map(each -> each).orElse(transport);
    }
}
