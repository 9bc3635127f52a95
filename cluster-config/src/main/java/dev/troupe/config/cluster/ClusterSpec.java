package dev.troupe.config.cluster;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The nodes that hold the ranks of a run. Immutable.
 *
 * @param name name of the cluster; letters, digits, '.', '_' and '-'
 * @param nodes every node, standbys too, in the order of the file; each rank of the world is on exactly one
 * @param joinTimeout longest wait of nodes for each other at the start
 * @param tls the nodes' certificates; empty: nothing between the nodes is encrypted
 */
public record ClusterSpec(String name, List<NodeSpec> nodes, Duration joinTimeout, Optional<TlsSpec> tls) {

    public ClusterSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(joinTimeout, "joinTimeout");
        Objects.requireNonNull(tls, "tls");
        nodes = List.copyOf(nodes);
        if (nodes.stream().map(NodeSpec::name).distinct().count() < nodes.size()) {
            throw new IllegalArgumentException("two nodes of one name in " + names(nodes));
        }
        if (nodes.stream().anyMatch(node -> node.standby() != node.ranks().isEmpty())) {
            throw new IllegalArgumentException("a standby with ranks or another node without in " + nodes);
        }
        List<Integer> ranks = nodes.stream().flatMap(node -> node.ranks().stream()).sorted().toList();
        if (ranks.isEmpty() || !ranks.equals(IntStream.range(0, ranks.size()).boxed().toList())) {
            throw new IllegalArgumentException("a rank twice, nowhere or outside the world in " + ranks);
        }
    }

    /**
     * Returns the node of a name.
     *
     * @throws ConfigException if there is none, with the names of the nodes
     */
    public NodeSpec node(String wanted) {
        return nodes.get(indexOf(wanted));
    }

    /**
     * Returns the index of the node of a name, from 0.
     *
     * @throws ConfigException if there is none, with the names of the nodes
     */
    public int indexOf(String wanted) {
        return IntStream.range(0, nodes.size()).filter(index -> nodes.get(index).name().equals(wanted)).findFirst()
                .orElseThrow(() -> new ConfigException(List.of(new Problem("", "cluster.nodes", "the name of a node",
                        '"' + wanted + '"', "the nodes of this file are " + names(nodes)))));
    }

    /** Returns the node that forms the cluster, and has the first coordinator. */
    public NodeSpec leader() {
        return nodes.stream().filter(node -> !node.standby()).findFirst().orElseThrow();
    }

    /** Returns, for every rank of the world, the index of the node that holds it. */
    public List<Integer> nodeOfRank() {
        Map<Integer, Integer> nodeOfRank = new TreeMap<>();
        for (int index = 0; index < nodes.size(); index++) {
            for (int rank : nodes.get(index).ranks()) {
                nodeOfRank.put(rank, index);
            }
        }
        return List.copyOf(nodeOfRank.values());
    }

    /** Returns the nodes on a host, compared by its name; all names of the loopback are one host. */
    public List<NodeSpec> nodesOn(String host) {
        return nodes.stream().filter(node -> node.isOn(host)).toList();
    }

    /**
     * Looks up the address of every host and returns a sentence for each that has none. The call waits for the name
     * service. A name may become known later, such as the name of a pod.
     */
    public List<String> unknownHosts() {
        Map<String, List<NodeSpec>> byHost = nodes.stream()
                .collect(Collectors.groupingBy(NodeSpec::host, LinkedHashMap::new, Collectors.toList()));
        List<String> sentences = new ArrayList<>();
        byHost.forEach((host, there) -> {
            if (!isKnown(host)) {
                sentences.add("cluster.nodes: expected hosts that this machine can find, found \"" + host + "\" of "
                        + (there.size() == 1 ? "node " : "nodes ") + names(there)
                        + "; check the name, or add it to /etc/hosts.");
            }
        });
        return sentences;
    }

    /**
     * Returns a warning about nodes that communicate in the clear over a network, with its remedy; empty if the run has
     * certificates, or stays within the machine. Waits for the name service.
     */
    public Optional<String> exposure() {
        List<String> outside = nodes.stream().map(NodeSpec::host).distinct().filter(host -> !isLoopback(host)).toList();
        return tls.isPresent() || outside.isEmpty()
                ? Optional.empty()
                : Optional.of("cluster.tls is not set, and the nodes talk over a network (" + String.join(", ", outside)
                        + "): whoever can read that network reads weights, activations and gradients, and can change or"
                        + " repeat what the nodes send; set cluster.tls, or keep the network to yourself"
                        + " (docs/cluster.md, \"Security\")");
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    private static boolean isKnown(String host) {
        try {
            InetAddress.getByName(host);
            return true;
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    private static String names(List<NodeSpec> some) {
        return some.stream().map(NodeSpec::name).collect(Collectors.joining(", "));
    }
}
