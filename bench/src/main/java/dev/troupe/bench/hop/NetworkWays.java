package dev.troupe.bench.hop;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.peer.PairChannels;
import dev.troupe.collective.peer.PeerCollectives;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.run.cluster.tls.MutualTls;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.link.LinkTransport;
import dev.troupe.transport.tcp.Connections;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Troupe's ways between two processes, each with ports of its own, at one end.
 *
 * @param self this process, 0 or 1
 * @param certificates the directory of node.crt, node.key and ca.crt, if a way has TLS
 */
record NetworkWays(int self, List<String> hosts, Optional<Path> certificates, Path directory) {
    /** The collectives that can be measured, in addition to {@link #HOP}. */
    static final List<String> COLLECTIVES = List.of("all-reduce", "reduce-scatter", "all-gather", "broadcast");
    /** A message from process 0 to process 1. */
    static final String HOP = "hop";
    private static final int PORT = 27500;
    private static final int PORTS_OF_A_WAY = 2;
    private static final Membership PAIR = new Membership("bench", List.of(0, 1),
            Duration.ofSeconds(HopEnd.TIMEOUT_SECONDS));

    enum Way {
        SOCKET, WINDOW, GLOO, TCP, TLS, UDP;

        boolean isSocket() {
            return this == SOCKET || this == WINDOW;
        }

        boolean isTroupe() {
            return !isSocket() && this != GLOO;
        }
    }

    static int port(Way way) {
        return PORT + PORTS_OF_A_WAY * way.ordinal();
    }

    private NodeMap nodes(Way way) {
        return new NodeMap(self, List.of(0, 1),
                List.of(new Endpoint(hosts.get(0), port(way)), new Endpoint(hosts.get(1), port(way) + 1)),
                Set.of(0, 1));
    }

    private TransportSettings settings(Way way) {
        return new TransportSettings(Optional.of(directory), true, TransportSettings.DEFAULT_TERM_LENGTH,
                Duration.ofSeconds(HopEnd.TIMEOUT_SECONDS), way == Way.UDP ? Network.UDP : Network.TCP);
    }

    /** Starts the media driver of this process. */
    DriverHandle driver(List<Way> ways) {
        long groups = ways.size() * PORTS_OF_A_WAY * PeerCollectives.STREAM_BYTES;
        return DriverHandle.startShared(directory, ways.stream().filter(Way::isTroupe).map(this::nodes).toList(),
                groups,
                settings(Way.UDP));
    }

    /** Opens this end of a way. */
    Burst open(Way way, String what, int bytes) {
        return what.equals(HOP) ? hop(way, bytes) : group(way, what, bytes);
    }

    private HopEnd hop(Way way, int bytes) {
        return new HopEnd(self, LinkTransport.start(nodes(way), settings(way), connections(way), FrameHook.NONE),
                bytes);
    }

    GroupEnd group(Way way, String what, int bytes) {
        Optional<Connections> connections = connections(way);
        PeerCollectives collectives = PeerCollectives.connect(directory, connections);
        CollectiveGroup group = collectives.join(PAIR, way.ordinal(), self, 0,
                new Pair(nodes(way), connections.isPresent()));
        return new GroupEnd(group, what, bytes, () -> {
            collectives.close();
            connections.ifPresent(Connections::close);
        });
    }

    /** The way between the two members. */
    private record Pair(NodeMap nodes, boolean isConnected) implements PairChannels {
        @Override
        public String channel(int from, int to) {
            return nodes.channel(from, to);
        }

        @Override
        public OptionalInt connectedNode(int from, int to) {
            return isConnected ? OptionalInt.of(to) : OptionalInt.empty();
        }
    }

    private Optional<Connections> connections(Way way) {
        if (way == Way.UDP) {
            return Optional.empty();
        }
        NodeMap nodes = nodes(way);
        Endpoint own = nodes.endpoints().get(self);
        try {
            return Optional
                    .of(new Connections(nodes,
                            DataPort.open(new InetSocketAddress(own.host(), own.port()), RunKey.open()),
                            way == Way.TLS ? Optional.of(tls()) : Optional.empty()));
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    private MutualTls tls() {
        Path folder = certificates.orElseThrow(() -> new IllegalArgumentException(
                "the way tls takes --certificates, a directory of node.crt, node.key and ca.crt"));
        return new MutualTls(
                new TlsSpec(folder.resolve("node.crt"), folder.resolve("node.key"), folder.resolve("ca.crt")));
    }
}
