package dev.troupe.config.cluster;

import dev.troupe.config.spec.EngineSpec;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * A node of a cluster: a JVM, its addresses, and its ranks.
 *
 * @param name name of the node, unique in the cluster
 * @param host name or address under which the other nodes reach it
 * @param controlPort TCP port of the control plane
 * @param dataPort TCP port for tensors, collectives and copies of snapshots from other machines, and for liveness
 *     connections; with {@code transport.network = udp} tensors, collectives and copies
 *     arrive at the UDP port of this number
 * @param managementPort TCP port of the health endpoint; 0: none
 * @param engine the engine of its ranks: the run's, with the node's own settings over it
 * @param ranks the ranks it holds, ascending; a standby has none
 * @param standby whether the node waits until another node is lost
 */
public record NodeSpec(String name, String host, int controlPort, int dataPort, int managementPort, EngineSpec engine,
        List<Integer> ranks, boolean standby) {

    private static final Set<String> THIS_MACHINE = Set.of("localhost", "127.0.0.1", "::1");

    public NodeSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(engine, "engine");
        ranks = ranks.stream().sorted().toList();
    }

    public NodeSpec withRanks(List<Integer> others) {
        return new NodeSpec(name, host, controlPort, dataPort, managementPort, engine, others, standby);
    }

    /** Returns the host as it is written in front of a port: an IPv6 address in brackets. */
    public String urlHost() {
        return host.contains(":") ? "[" + host + "]" : host;
    }

    /** Returns the address of one of the node's ports, as {@code host:port}. */
    public String address(int port) {
        return urlHost() + ":" + port;
    }

    /** Returns whether the node is on a host, compared by its name; all names of the loopback are one host. */
    public boolean isOn(String otherHost) {
        return machine().equals(canonical(otherHost));
    }

    /** Returns the host in lower case; all names of the loopback are {@code localhost}. */
    public String machine() {
        return canonical(host);
    }

    private static String canonical(String host) {
        String lower = host.toLowerCase(Locale.ROOT);
        return THIS_MACHINE.contains(lower) ? "localhost" : lower;
    }
}
