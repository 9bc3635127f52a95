package dev.troupe.run.cluster.machine;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.spec.TransportSpec;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.prepare.TermLength;
import dev.troupe.rank.group.NodeGroups;
import dev.troupe.snapshot.stream.StreamedCopies;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverDirectory;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.link.LinkTransport;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.zip.CRC32C;

/**
 * The one media driver of a machine. The name of its directory is derived from the cluster and the host, so all nodes of the
 * host find it. {@code launch} starts it in a separate process; otherwise the first of the host's nodes in the cluster file
 * runs it.
 */
public final class MachineDriver {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(100);

    private MachineDriver() {
    }

    /**
     * Returns the directory of the driver of a host. Clusters of the same name with different nodes have different
     * directories.
     */
    public static Path directory(RunSpec spec, ClusterSpec cluster, String host) {
        CRC32C sum = new CRC32C();
        cluster.nodes().forEach(node -> sum.update(
                (node.name() + " " + node.host() + ":" + node.controlPort() + " ").getBytes(StandardCharsets.UTF_8)));
        sum.update(host.getBytes(StandardCharsets.UTF_8));
        Path sharedMemory = Path.of("/dev/shm");
        Path base = spec.transport().directory().orElseGet(() -> Files.isWritable(sharedMemory)
                ? sharedMemory
                : Path.of(System.getProperty("java.io.tmpdir")));
        return base.resolve("troupe-" + cluster.name() + "-" + Long.toHexString(sum.getValue()));
    }

    /** Returns the initial map of nodes from the view of one node. */
    public static NodeMap map(ClusterSpec cluster, TrainingPlan plan, NodeSpec self) {
        return map(cluster, plan, self, cluster.nodeOfRank(), Map.of());
    }

    /**
     * Returns the map of nodes from the view of one node after ranks have moved.
     *
     * @param since the epoch of the last change of a node's ranks, by the node's name; unchanged nodes are absent
     */
    public static NodeMap map(ClusterSpec cluster, TrainingPlan plan, NodeSpec self, List<Integer> nodeOfRank,
            Map<String, Integer> since) {
        List<Endpoint> endpoints = cluster.nodes().stream()
                .map(node -> new Endpoint(node.host(), node.dataPort())).toList();
        int index = cluster.indexOf(self.name());
        return new NodeMap(index, nodeOfRank, endpoints, Peers.of(plan, nodeOfRank, index),
                cluster.nodes().stream().map(node -> since.getOrDefault(node.name(), 0)).toList());
    }

    public static TransportSettings settings(PlannedRun run, Path directory) {
        return new TransportSettings(Optional.of(directory), true,
                TermLength.of(run, run.spec().cluster().orElseThrow().nodeOfRank()), run.spec().transport().timeout(),
                network(run.spec().transport()));
    }

    /**
     * Returns the protocol of tensors, collectives and copies between the machines of a cluster; empty if all nodes are on
     * one machine.
     */
    public static Optional<Network> betweenMachines(PlannedRun run) {
        ClusterSpec cluster = run.spec().cluster().orElseThrow();
        return LinkTransport.betweenMachines(map(cluster, run.plan(), cluster.leader()),
                settings(run, directory(run.spec(), cluster, cluster.leader().host())));
    }

    private static Network network(TransportSpec transport) {
        return switch (transport.network()) {
            case TCP -> Network.TCP;
            case UDP -> Network.UDP;
        };
    }

    /**
     * Starts the driver of a host.
     *
     * @throws UsageException if the cluster runs there already
     * @throws dev.troupe.transport.TransportException if the driver does not start: too little room
     */
    public static DriverHandle start(PlannedRun run, String host) {
        RunSpec spec = run.spec();
        TrainingPlan plan = run.plan();
        ClusterSpec cluster = spec.cluster().orElseThrow();
        Path directory = directory(spec, cluster, host);
        if (DriverDirectory.isAtWork(directory)) {
            throw new UsageException("cluster " + cluster.name() + " runs on " + host
                    + " already (a media driver is at work in " + directory
                    + "): end that run first, or give this one another cluster.name and its nodes other ports");
        }
        List<NodeMap> there = cluster.nodesOn(host).stream().map(node -> map(cluster, plan, node)).toList();
        TransportSettings settings = settings(run, directory);
        long groupBytes = there.stream()
                .mapToLong(node -> NodeGroups.driverBytes(plan.ranks(), node, settings.network())).sum();
        long takeoverBytes = run.recovers() ? Takeover.mostDriverBytes(plan, there, settings) : 0;
        // Each node writes one stream of copies, in the worst case all of them to this machine; others have connections.
        int copiers = settings.network() == Network.UDP ? cluster.nodes().size() : there.size() > 1 ? there.size() : 0;
        long copyBytes = run.keepsCopies() ? copiers * StreamedCopies.STREAM_BYTES : 0;
        return DriverHandle.startShared(directory, there, groupBytes + takeoverBytes + copyBytes, settings);
    }

    /** Whether the driver of a host runs on this machine, which is from the start of a cluster to its end. */
    public static boolean isAtWork(RunSpec spec, String host) {
        return DriverDirectory.isAtWork(directory(spec, spec.cluster().orElseThrow(), host));
    }

    /** Deletes the files of a killed driver of a host; only the process that started it may call this. */
    public static void clear(RunSpec spec, String host) {
        DriverDirectory.delete(directory(spec, spec.cluster().orElseThrow(), host));
    }

    /** Finds the driver of a run on a node's machine, as {@link #find(ClusterSpec, NodeSpec, Path, Supplier)}. */
    public static Optional<DriverHandle> find(PlannedRun run, NodeSpec self) {
        ClusterSpec cluster = run.spec().cluster().orElseThrow();
        return find(cluster, self, directory(run.spec(), cluster, self.host()), () -> start(run, self.host()));
    }

    /**
     * Finds the driver of a node's machine, or starts it if that is this node's task; then the caller must close it.
     *
     * @throws UsageException if another node has to start it, and did not within the join timeout
     */
    public static Optional<DriverHandle> find(ClusterSpec cluster, NodeSpec self, Path directory,
            Supplier<DriverHandle> start) {
        if (DriverDirectory.isAtWork(directory)) {
            return Optional.empty();
        }
        NodeSpec keeper = cluster.nodesOn(self.host()).getFirst();
        if (keeper.name().equals(self.name())) {
            return Optional.of(start.get());
        }
        long deadline = System.nanoTime() + cluster.joinTimeout().toNanos();
        while (!DriverDirectory.isAtWork(directory)) {
            if (System.nanoTime() - deadline > 0) {
                throw new UsageException("node " + self.name() + " uses the media driver of node " + keeper.name()
                        + ", the first on " + self.host() + ", which did not start one in " + directory + " within "
                        + cluster.joinTimeout().toSeconds() + " seconds: start node " + keeper.name()
                        + ", or all of them with launch");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_AGAIN.toMillis()));
        }
        return Optional.empty();
    }
}
