package dev.troupe.run.cluster;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.rank.group.NodeGroups;
import dev.troupe.run.NodeParts;
import dev.troupe.run.cluster.liveness.LivenessConnections;
import dev.troupe.run.cluster.liveness.Sockets;
import dev.troupe.run.cluster.machine.MachineDriver;
import dev.troupe.run.cluster.machine.Ports;
import dev.troupe.run.cluster.tls.MutualTls;
import dev.troupe.snapshot.copy.SnapshotCopies;
import dev.troupe.snapshot.stream.StreamedCopies;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.link.LinkTransport;
import dev.troupe.transport.tcp.Connections;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The transport of a node's tensors, and the connections by which the others notice its end. */
record NodeResources(DataPort port, LivenessConnections connections, Optional<DriverHandle> driver,
        Transport transport, NodeParts parts, Optional<SnapshotCopies> copies) {
    private static final Logger LOG = LoggerFactory.getLogger(NodeResources.class);

    static NodeResources open(PreparedRun run, NodeSpec self, RunKey key) {
        ClusterSpec cluster = run.spec().cluster().orElseThrow();
        DataPort port = listen(self, key);
        Optional<MutualTls> tls = cluster.tls().map(MutualTls::new);
        LivenessConnections connections = new LivenessConnections(cluster, self,
                tls.<Sockets>map(each -> each).orElse(Sockets.PLAIN), port);
        try {
            return open(run, self, port, connections, nodes -> new Connections(nodes, port, tls.map(each -> each)));
        } catch (RuntimeException | Error failure) {
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

    private static NodeResources open(PreparedRun run, NodeSpec self, DataPort port,
            LivenessConnections connections, Function<NodeMap, Connections> tensors) {
        RunSpec spec = run.spec();
        ClusterSpec cluster = spec.cluster().orElseThrow();
        Optional<DriverHandle> driver = MachineDriver.find(run.planned(), self);
        try {
            Path directory = MachineDriver.directory(spec, cluster, self.host());
            TransportSettings settings = MachineDriver.settings(run.planned(), directory);
            NodeMap nodes = MachineDriver.map(cluster, run.plan(), self);
            Optional<Connections> between = LinkTransport.needsConnections(nodes, settings)
                    ? Optional.of(tensors.apply(nodes))
                    : Optional.empty();
            Transport transport = LinkTransport.start(nodes, settings, between, run.faultyMessages());
            try {
                NodeParts parts = NodeParts.open(run,
                        deadline -> NodeGroups.connect(run.plan().ranks(), nodes, directory, between, deadline),
                        run.planned().keepsCopies() && cluster.nodesOn(self.host()).size() > 1);
                Optional<SnapshotCopies> copies = parts.snapshots().filter(_ -> run.planned().keepsCopies()).map(
                        kept -> StreamedCopies.connect(nodes, settings, directory, between, kept, parts.copies()));
                copies.ifPresent(parts.copies()::over);
                return new NodeResources(port, connections, driver, transport, parts, copies);
            } catch (RuntimeException | Error failure) {
                transport.close();
                throw failure;
            }
        } catch (RuntimeException | Error failure) {
            driver.ifPresent(DriverHandle::close);
            throw failure;
        }
    }

    int receiverId() {
        return copies.map(SnapshotCopies::receiverId).orElse(0);
    }

    /** Closes the rest after the transport. */
    void release() {
        transport.counters().droppedInWords().ifPresent(LOG::info);
        copies.ifPresent(SnapshotCopies::close);
        parts.close();
        driver.ifPresent(DriverHandle::close);
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
