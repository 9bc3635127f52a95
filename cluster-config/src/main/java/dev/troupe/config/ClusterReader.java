package dev.troupe.config;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodePlacement;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.TransportSpec;
import dev.troupe.config.value.Texts;
import dev.troupe.config.value.Values;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The reader of the nodes of a cluster and their ranks. */
final class ClusterReader {
    private static final int MOST_PORTS = 65535;
    private static final String CERTIFICATE = "cluster.tls.certificate";
    private static final String KEY = "cluster.tls.key";
    private static final String AUTHORITY = "cluster.tls.authority";
    /** A name, an IPv4 address or, with two colons or more, an IPv6 address; a port is not allowed. */
    private static final Pattern HOST = Pattern
            .compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,252}|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*");

    private final Values values;
    private final String name;
    private final Duration joinTimeout;
    private final boolean maySplit;
    private final Optional<TlsSpec> tls;
    private final List<Draft> drafts;

    /**
     * A node before the placement of ranks.
     *
     * @param node the node with the ranks that the file names
     * @param isPlaced whether its ranks are fixed, since it is a standby or the file names them
     */
    record Draft(Values values, NodeSpec node, boolean isPlaced) {
    }

    /**
     * Reads each node by itself.
     *
     * @param values the values of the configuration, which report problems
     * @param engine the engine of nodes without one of their own
     */
    ClusterReader(Values values, EngineSpec engine) {
        this.values = values;
        this.name = values.text("cluster.name", Texts.NAME_OR_NONE);
        this.joinTimeout = values.duration("cluster.join-timeout", Duration.ofMillis(100), Duration.ofHours(24));
        this.maySplit = values.flag("cluster.split-tensor-groups");
        this.tls = tls();
        this.drafts = values.sections("cluster.nodes", "troupe-node").stream().map(node -> draft(node, engine))
                .toList();
    }

    private Optional<TlsSpec> tls() {
        Path certificate = values.path(CERTIFICATE, Set.of(""));
        Path key = values.path(KEY, Set.of(""));
        Path authority = values.path(AUTHORITY, Set.of(""));
        if (certificate == null && key == null && authority == null) {
            return Optional.empty();
        }
        requireWithOthers(CERTIFICATE, certificate);
        requireWithOthers(KEY, key);
        requireWithOthers(AUTHORITY, authority);
        return certificate == null || key == null || authority == null
                ? Optional.empty()
                : Optional.of(new TlsSpec(certificate, key, authority));
    }

    private void requireWithOthers(String key, Path path) {
        if (path == null && values.sound(key)) {
            values.report(key, "a PEM file, since TLS takes certificate, key and authority together",
                    "set it, or leave out all three");
        }
    }

    private Draft draft(Values node, EngineSpec engine) {
        String nodeName = node.isGiven("name")
                ? node.text("name", Texts.NAME)
                : node.missing("name", "a name of the node", "");
        String host = node.isGiven("host")
                ? node.text("host", HOST, "a host name or an address, without a port")
                : node.missing("host", "the name or address under which the other nodes reach it", "");
        EngineSpec own = engine.readNode(node);
        List<Integer> ranks = node.isGiven("ranks")
                ? node.integers("ranks", 0, ParallelSpec.MOST_RANKS_IN_ALL - 1)
                : List.of();
        boolean standby = node.flag("standby");
        return new Draft(node,
                new NodeSpec(nodeName, host, port(node, "control-port"), port(node, "data-port"),
                        node.integer("management-port", 0, MOST_PORTS), own, ranks, standby),
                standby || node.isGiven("ranks"));
    }

    private static int port(Values node, String key) {
        return node.isGiven(key)
                ? node.integer(key, 1, MOST_PORTS)
                : node.missing(key, "a TCP port from 1 to " + MOST_PORTS, 0);
    }

    /** Reports a network that cannot be encrypted although the cluster has certificates. */
    void check(TransportSpec transport) {
        if (tls.isPresent() && transport.network() == TransportSpec.Network.UDP) {
            values.report("transport.network", "tcp with cluster.tls, since udp carries tensors in the clear", "udp",
                    "take one of them away");
        }
    }

    /** Reports nodes that contradict each other or the rest of the run. */
    void check(ParallelSpec parallel, TrainingSpec.Precision precision) {
        if (drafts.isEmpty() || !values.sound("cluster.nodes")) {
            return;
        }
        ClusterChecks checks = new ClusterChecks(values, drafts);
        checks.names();
        checks.hosts();
        checks.ports();
        checks.engines(precision);
        boolean isWorldKnown = values.sound("parallel.pipeline", "parallel.data", "parallel.tensor");
        if (checks.standbys() && isWorldKnown && checks.ranks(parallel.ranks())) {
            checks.placement(placed(parallel.ranks()), parallel.ranks(), maySplit);
        }
    }

    /** Returns the cluster, if the file has one; may be called only if no problem was found. */
    Optional<ClusterSpec> spec(String runName, ParallelSpec parallel) {
        if (tls.isEmpty()) {
            values.leaveOut(CERTIFICATE, KEY, AUTHORITY);
        }
        if (drafts.isEmpty()) {
            values.leaveOut("cluster.name", "cluster.nodes", "cluster.join-timeout", "cluster.split-tensor-groups",
                    CERTIFICATE, KEY, AUTHORITY);
            return Optional.empty();
        }
        List<NodeSpec> nodes = placed(parallel.ranks());
        ClusterSpec cluster = new ClusterSpec(name.isEmpty() ? runName : name, nodes, joinTimeout, tls);
        for (int i = 0; i < nodes.size(); i++) {
            drafts.get(i).values().settle("ranks", nodes.get(i).ranks());
        }
        values.settle("cluster.name", cluster.name());
        values.settle("cluster.nodes", drafts.stream().map(draft -> draft.values().effective().root()).toList());
        values.settle("cluster.split-tensor-groups",
                !NodePlacement.groupsOverHosts(nodes, parallel.ranks()).isEmpty());
        return Optional.of(cluster);
    }

    private List<NodeSpec> placed(ParallelLayout layout) {
        List<List<Integer>> ranks = NodePlacement.place(drafts.stream().map(draft -> draft.isPlaced()
                ? Optional.of(draft.node().ranks())
                : Optional.<List<Integer>>empty()).toList(), layout, maySplit);
        List<NodeSpec> nodes = new ArrayList<>();
        for (int i = 0; i < ranks.size(); i++) {
            nodes.add(drafts.get(i).node().withRanks(ranks.get(i)));
        }
        return nodes;
    }
}
