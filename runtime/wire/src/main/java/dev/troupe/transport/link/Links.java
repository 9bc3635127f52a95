package dev.troupe.transport.link;

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
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.frame.FrameWriter;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.Line;
import dev.troupe.transport.tcp.LineName;
import dev.troupe.wire.DriverClient;
import dev.troupe.wire.Rest;
import dev.troupe.wire.Ring;
import dev.troupe.wire.StreamIds;
import dev.troupe.wire.way.StreamWay;
import io.aeron.Aeron;
import io.aeron.Subscription;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The links of a node to its peers and itself, with the Aeron client of their streams. It has no thread: {@link #invoke}
 * does the client's housekeeping on the transport thread.
 */
final class Links implements AutoCloseable {
    private static final long CONNECT_TIMEOUT_SECONDS = 10;
    /**
     * The longest rest of a thread that each frame wakes, since the driver expects a regular sign of life from the client.
     */
    private static final long WOKEN_REST_NANOS = 16_000_000;
    /** The longest rest of a thread that polls frames in memory, which wake no thread. */
    private static final long LOOKING_REST_NANOS = 1_000_000;

    private final DriverClient client;
    private final Aeron aeron;
    private final Path rings;
    private final TransportSettings settings;
    private final Link.Shared shared;
    /** Empty if all nodes are on this machine, or the network is UDP. */
    private final Optional<Connections> connections;
    private final Rest rest;
    private final RetiredRings retired = new RetiredRings();
    /** Whether each frame wakes the thread: only the stream of this node to itself is in memory. */
    private boolean isWoken;
    // By node; null for nodes that are no peers.
    private final Link[] links;
    private List<Link> open = List.of();

    private Links(DriverClient client, Path rings, int nodeCount, TransportSettings settings, Counters counters,
            Optional<Connections> connections, Rest rest, FrameHook hook) {
        this.shared = new Link.Shared(settings, counters, hook);
        this.client = client;
        this.aeron = client.aeron();
        this.connections = connections;
        this.rest = rest;
        this.rings = rings;
        this.settings = settings;
        this.links = new Link[nodeCount];
    }

    /**
     * Connects to the driver, opens every stream, and waits until the stream to this process is connected.
     *
     * @param connections the connections of this node, closed with the client; empty if it has only streams
     * @throws TransportException if a channel cannot be opened
     */
    static Links open(DriverHandle driver, NodeMap nodes, TransportSettings settings, Counters counters,
            Optional<Connections> connections, FrameHook hook) {
        Rest rest = Rest.open(); // first: nothing is left to close where it cannot be had
        var links = new Links(DriverClient.invoked(driver.directory(), "transport"), driver.rings(),
                nodes.nodeCount(), settings, counters, connections, rest, hook);
        try {
            links.enter(nodes);
            links.awaitOwnLink(links.link(nodes.self()));
            return links;
        } catch (RuntimeException e) {
            links.close();
            throw e;
        }
    }

    /**
     * Opens the streams of a map, and closes the streams that are not in it.
     *
     * @throws TransportException if a channel cannot be opened
     */
    void enter(NodeMap nodes) {
        List<Link> gone = new ArrayList<>();
        for (int node = 0; node < links.length; node++) {
            Link before = links[node];
            boolean isPeer = nodes.peers().contains(node);
            int since = nodes.streamsSince(nodes.self(), node);
            if (before == null || !isPeer || before.since() != since) {
                links[node] = isPeer ? open(nodes, node, since) : null;
                if (before != null) {
                    gone.add(before);
                }
            }
        }
        open = Stream.of(links).filter(Objects::nonNull).toList();
        // Closed last, since a port is released with its last stream.
        gone.forEach(Link::close);
        Link own = links[nodes.self()];
        isWoken = open.size() > 1 && open.stream().allMatch(link -> link == own || link.wakes());
    }

    private Link open(NodeMap nodes, int node, int since) {
        boolean isOfMachine = nodes.shareMachine(nodes.self(), node);
        if (connections.isPresent() && !isOfMachine) {
            Line way = new Line(connections.get(), LineName.tensors(node), since, rest, FrameStream.MOST_PAYLOAD,
                    false);
            return new Link(node, since, way, new IncomingConnection(node, way), new FrameWriter(false), shared);
        }
        int inId = streamId(nodes, node, nodes.self(), since);
        int outId = streamId(nodes, nodes.self(), node, since);
        Subscription in = subscription(settings.receives(nodes.channel(node, nodes.self())), inId);
        String channel = nodes.channel(nodes.self(), node);
        if (!isOfMachine) {
            return new Link(node, since, stream(settings.sends(channel), outId),
                    new IncomingStream(node, in, Optional.empty()), new FrameWriter(true), shared);
        }
        if (node == nodes.self()) {
            StreamWay out = stream(settings.sends(channel), outId);
            HandOvers handOvers = new HandOvers(out.sessionId());
            return new MachineLink(node, since, out, new MachineLink.Payloads.Own(handOvers),
                    new IncomingStream(node, in, Optional.of(handOvers)), shared);
        }
        StreamWay out = stream(settings.sendsHeaders(channel), outId);
        return new MachineLink(node, since, out,
                new MachineLink.Payloads.Rings(ring(ringOf(outId, out.sessionId())),
                        new SendingRings<>(new RingFiles(rings, outId), settings.devicePieceBytes())),
                new IncomingRings(node, in, session -> ringOf(inId, session),
                        new ReceivingRings<>(new RingFiles(rings, inId), settings.deviceRingBytes()), retired),
                shared);
    }

    private Subscription subscription(String channel, int streamId) {
        try {
            return aeron.addSubscription(channel, streamId);
        } catch (RuntimeException e) {
            throw refused(channel, "receive on", e);
        }
    }

    private StreamWay stream(String channel, int streamId) {
        try {
            return new StreamWay(aeron.addExclusivePublication(channel, streamId));
        } catch (RuntimeException e) {
            throw refused(channel, "send to", e);
        }
    }

    private Path ringOf(int streamId, int session) {
        return rings.resolve(streamId + "." + session);
    }

    private Ring ring(Path file) {
        try {
            return Ring.create(file, settings.ringBytes());
        } catch (IOException e) {
            throw new TransportException("the transport could not make " + file + ": " + e
                    + "; see that the directory of the media driver has room", e);
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

    int ownStreamId() {
        return StreamIds.ofProcess(aeron.clientId());
    }

    private void awaitOwnLink(Link own) {
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

    Link link(int node) {
        return links[node];
    }

    /**
     * Does the client's housekeeping; returns the amount of work.
     *
     * @throws IllegalStateException if the client has closed itself
     */
    int invoke() {
        int work = client.invoke();
        retired.look(System.nanoTime());
        return work;
    }

    void expect(int node, Edge edge, Engine engine) {
        links[node].expect(edge, engine);
    }

    /** Returns whether a device is copying from a tensor or to a buffer. */
    boolean awaitsEngine() {
        for (Link link : open) {
            if (link.awaitsEngine()) {
                return true;
            }
        }
        return false;
    }

    /** Waits until no tensor of a message before an epoch is read, and no granted buffer is written. */
    void settle(int epoch) {
        open.forEach(link -> link.settle(epoch));
    }

    /** Receives up to {@code limit} frames from each node; returns an amount of work that is 0 if there were none. */
    int poll(Arrivals arrivals, int limit) {
        int frames = 0;
        for (Link link : open) {
            frames += link.poll(arrivals, limit);
        }
        return frames;
    }

    /** Returns whether each frame wakes the thread. */
    boolean isWoken() {
        return isWoken;
    }

    /**
     * Returns the longest rest that delays no frame.
     *
     * @param awaitsStream whether the thread waits for space in a stream, which wakes no thread
     */
    long longestRestNanos(boolean awaitsStream) {
        return isWoken && !awaitsStream ? WOKEN_REST_NANOS : LOOKING_REST_NANOS;
    }

    /** Returns the rest of the transport thread, which connections end. */
    Rest rest() {
        return rest;
    }

    @Override
    public void close() {
        client.close();
        connections.ifPresent(Connections::close);
        Stream.of(links).filter(Objects::nonNull).forEach(Link::release);
        retired.close();
        rest.close();
    }
}
