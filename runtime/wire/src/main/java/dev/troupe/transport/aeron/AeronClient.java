package dev.troupe.transport.aeron;

import dev.troupe.engine.Engine;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.Counters;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.device.ReceivingRings;
import dev.troupe.transport.device.RetiredRings;
import dev.troupe.transport.device.RingFiles;
import dev.troupe.transport.device.SendingRings;
import dev.troupe.transport.driver.Driver;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.wire.DriverClient;
import dev.troupe.wire.Rest;
import dev.troupe.wire.Ring;
import dev.troupe.wire.StreamIds;
import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;

/**
 * The ways between this node and its peers, itself included: streams out and in, and connections to nodes of other
 * machines. It has no thread of its own: {@link #invoke} does the client's housekeeping on the transport thread.
 */
final class AeronClient implements AutoCloseable {
    private static final long CONNECT_TIMEOUT_SECONDS = 10;
    /** The longest rest of a thread that each frame wakes: the driver must hear of this client now and then. */
    private static final long WOKEN_REST_NANOS = 16_000_000;
    /** The longest rest of a thread that looks for frames in memory, which wakes no thread. */
    private static final long LOOKING_REST_NANOS = 1_000_000;

    private final DriverClient client;
    private final Aeron aeron;
    private final Path rings;
    private final TransportSettings settings;
    private final Counters counters;
    /** Empty where all nodes are on this machine, or streams go to the others too. */
    private final Optional<Connections> connections;
    private final FrameHook hook;
    private final Rest rest;
    private final RetiredRings retired = new RetiredRings();
    /** The only stream is that of this node to itself. */
    private boolean isWoken;
    // By node; null for nodes that are no peers.
    private final Way[] ways;
    private List<Way> open = List.of();

    /** The way from a node and to it. */
    interface Way {
        /** The epoch since which both nodes have their present ranks. */
        int since();

        Link link();

        /** Takes what has become ready between the nodes; returns the amount of work. */
        default int renew() {
            return 0;
        }

        /** A buffer is granted for messages from the node. */
        default void expect(Edge edge, Engine engine) {
            // Whatever is to be known of it is known with the first message.
        }

        /** Whether a device copies from a tensor or to a buffer. */
        default boolean awaitsEngine() {
            return false;
        }

        /** Tensors of messages before an epoch are not read any more, and granted buffers are not written. */
        void settle(int epoch);

        /** Receives some frames; returns their number, or another that is not 0. */
        int poll(Arrivals arrivals, int limit);

        void close();

        /** Releases what does not end with the client, after it is closed. */
        void release();
    }

    /** A connection, which goes both ways. */
    private record SocketWay(int since, SocketLink link) implements Way {
        @Override
        public int renew() {
            return link.renew() ? 1 : 0;
        }

        @Override
        public void settle(int epoch) {
            link.withdraw(epoch);
        }

        @Override
        public int poll(Arrivals arrivals, int limit) {
            return link.poll(arrivals);
        }

        @Override
        public void close() {
            link.close();
        }

        @Override
        public void release() {
            link.release();
        }
    }

    private AeronClient(DriverClient client, Path rings, int nodeCount, TransportSettings settings, Counters counters,
            Optional<Connections> connections, Rest rest, FrameHook hook) {
        this.hook = hook;
        this.client = client;
        this.aeron = client.aeron();
        this.connections = connections;
        this.rest = rest;
        this.rings = rings;
        this.settings = settings;
        this.counters = counters;
        this.ways = new Way[nodeCount];
    }

    /**
     * Connects to the driver and opens every stream; the stream to this process itself is connected when this returns.
     *
     * @param connections the connections of this node, which are closed with the client; empty where there are only
     *     streams
     * @throws TransportException if a channel cannot be opened
     */
    static AeronClient open(Driver driver, NodeMap nodes, TransportSettings settings, Counters counters,
            Optional<Connections> connections, FrameHook hook) {
        Rest rest = Rest.open(); // first: nothing is left to close where it cannot be had
        var client = new AeronClient(DriverClient.invoked(driver.directory(), "transport"), driver.rings(),
                nodes.nodeCount(), settings, counters, connections, rest, hook);
        try {
            client.enter(nodes);
            client.awaitOwnLink((StreamLink) client.link(nodes.self()));
            return client;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /**
     * Opens the streams of a map that are not open, and closes open ones that are not in the map.
     *
     * @throws TransportException if a channel cannot be opened
     */
    void enter(NodeMap nodes) {
        List<Way> gone = new ArrayList<>();
        for (int node = 0; node < ways.length; node++) {
            Way before = ways[node];
            boolean isPeer = nodes.peers().contains(node);
            int since = nodes.streamsSince(nodes.self(), node);
            if (before == null || !isPeer || before.since() != since) {
                ways[node] = isPeer ? open(nodes, node, since) : null;
                if (before != null) {
                    gone.add(before);
                }
            }
        }
        open = Stream.of(ways).filter(Objects::nonNull).toList();
        // Old streams are closed last, since a port is released with its last stream.
        gone.forEach(Way::close);
        isWoken = open.size() > 1 && open.stream().allMatch(way -> way instanceof SocketWay
                || way == ways[nodes.self()]);
    }

    private Way open(NodeMap nodes, int node, int since) {
        return connections.isPresent() && !nodes.shareMachine(nodes.self(), node)
                ? new SocketWay(since, new SocketLink(node, since, connections.get(), rest,
                        settings.linkTimeout().toNanos(), counters, hook))
                : openStream(nodes, node, since);
    }

    private Way openStream(NodeMap nodes, int node, int since) {
        int self = nodes.self();
        String in = settings.receives(nodes.channel(node, self));
        boolean shareMachine = nodes.shareMachine(self, node);
        boolean hasRing = shareMachine && node != self;
        String channel = nodes.channel(self, node);
        String out = hasRing ? settings.sendsHeaders(channel) : settings.sends(channel);
        Subscription subscription;
        try {
            subscription = aeron.addSubscription(in, streamId(nodes, node, self, since));
        } catch (RuntimeException e) {
            throw refused(in, "receive on", e);
        }
        int outId = streamId(nodes, self, node, since);
        int inId = streamId(nodes, node, self, since);
        StreamLink link;
        try {
            ExclusivePublication publication = aeron.addExclusivePublication(out, outId);
            Optional<Ring> ring = hasRing
                    ? Optional.of(ring(ringOf(outId, publication.sessionId())))
                    : Optional.empty();
            link = new StreamLink(node, !shareMachine, publication, ring,
                    hasRing
                            ? Optional.of(new SendingRings<>(new RingFiles(rings, outId), settings.devicePieceBytes()))
                            : Optional.empty(),
                    node == self ? Optional.of(new HandOvers()) : Optional.empty(), settings.linkTimeout().toNanos(),
                    counters, hook);
        } catch (RuntimeException e) {
            throw refused(out, "send to", e);
        }
        return new StreamWay(node, since, subscription, link,
                hasRing ? Optional.of(session -> ringOf(inId, session)) : Optional.empty(),
                hasRing
                        ? Optional.of(new ReceivingRings<>(new RingFiles(rings, inId), settings.deviceRingBytes()))
                        : Optional.empty(),
                retired);
    }

    private Path ringOf(int streamId, int session) {
        return rings.resolve(streamId + "." + session);
    }

    private Ring ring(Path file) {
        try {
            return Ring.create(file, settings.ringBytes());
        } catch (IOException e) {
            throw new UncheckedIOException("could not make " + file + ": " + e, e);
        }
    }

    private static TransportException refused(String channel, String verb, RuntimeException cause) {
        return new TransportException("the transport could not " + verb + " the channel " + channel + ": "
                + cause.getMessage()
                + "; see that the address is of this machine, its port is free, and the media driver has room", cause);
    }

    private int streamId(NodeMap nodes, int fromNode, int toNode, int since) {
        return fromNode == toNode ? ownStreamId() : StreamIds.ofNodes(fromNode, toNode, nodes.nodeCount(), since);
    }

    /** The stream of this process to itself. */
    int ownStreamId() {
        return StreamIds.ofProcess(aeron.clientId());
    }

    private void awaitOwnLink(StreamLink own) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(CONNECT_TIMEOUT_SECONDS);
        while (!own.isConnected()) {
            invoke();
            if (deadline - System.nanoTime() < 0) {
                throw new TransportException("the transport's stream to its own node was expected to connect within "
                        + CONNECT_TIMEOUT_SECONDS + " seconds, but did not; is this machine overloaded?");
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
    }

    /** The way to a peer. */
    Link link(int node) {
        return ways[node].link();
    }

    /**
     * Does the client's housekeeping; returns the amount of work.
     *
     * @throws IllegalStateException if the client has closed itself
     */
    int invoke() {
        int work = client.invoke();
        for (Way way : open) {
            work += way.renew();
        }
        retired.look(System.nanoTime());
        return work;
    }

    /** A buffer is granted for messages from a node. */
    void expect(int node, Edge edge, Engine engine) {
        ways[node].expect(edge, engine);
    }

    /** Whether a device copies from a tensor or to a buffer. */
    boolean awaitsEngine() {
        for (Way way : open) {
            if (way.awaitsEngine()) {
                return true;
            }
        }
        return false;
    }

    /** Tensors of messages before an epoch are not read any more, and granted buffers are not written. */
    void settle(int epoch) {
        open.forEach(way -> way.settle(epoch));
    }

    /** Receives up to {@code limit} frames from each node; returns a number that is 0 where there were none. */
    int poll(Arrivals arrivals, int limit) {
        int frames = 0;
        for (Way way : open) {
            frames += way.poll(arrivals, limit);
        }
        return frames;
    }

    /** Whether each frame wakes the thread that rests. */
    boolean isWoken() {
        return isWoken;
    }

    /**
     * Returns the longest rest that delays no frame.
     *
     * @param awaitsStream whether a stream must have room again, of which no thread is told
     */
    long longestRestNanos(boolean awaitsStream) {
        return isWoken && !awaitsStream ? WOKEN_REST_NANOS : LOOKING_REST_NANOS;
    }

    /** The rest of the transport thread, which connections end. */
    Rest rest() {
        return rest;
    }

    @Override
    public void close() {
        client.close();
        connections.ifPresent(Connections::close);
        Stream.of(ways).filter(Objects::nonNull).forEach(Way::release);
        retired.close();
        rest.close();
    }
}
