package dev.troupe.transport.aeron;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import org.agrona.DirectBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportSettings;
import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;

/**
 * The streams of this node: one out to and one in from every peer, itself included. It has no thread of its own:
 * {@link #invoke} does the client's housekeeping on the transport thread.
 */
final class AeronClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AeronClient.class);
    /** The first stream id; other programs often use 0 by default. */
    private static final int FIRST_STREAM_ID = 7000;
    /** The first id of streams of a process to itself. */
    private static final int FIRST_OWN_STREAM_ID = Integer.MIN_VALUE;
    private static final long CONNECT_TIMEOUT_SECONDS = 10;

    private final Aeron aeron;
    private final AtomicReference<Throwable> lastError;
    private final Path rings;
    private final TransportSettings settings;
    private final Counters counters;
    // Streams by node; null for nodes that are no peers.
    private final Way[] ways;
    private List<Way> open = List.of();

    /** Receives the bytes of one frame. */
    interface FrameHandler {
        /**
         * @param ring
         *            the ring of the payload; null where the payload is in the frame
         * @param end
         *            the position after the payload in the ring
         */
        void onFrame(int fromNode, DirectBuffer buffer, int offset, int length, Ring ring, long end);
    }

    /** The streams from a node and to it. */
    private static final class Way {
        private final int node;
        private final int since;
        private final Subscription subscription;
        private final Link link;
        /** The file of the ring of the incoming stream, by session; empty where payloads are in their frames. */
        private final Optional<IntFunction<Path>> rings;
        // Created once, since a new object for each poll would be garbage.
        private FragmentHandler handler;
        private Ring ring;
        private int ringSession;
        private RuntimeException failure;

        Way(int node, int since, Subscription subscription, Link link, Optional<IntFunction<Path>> rings) {
            this.node = node;
            this.since = since;
            this.subscription = subscription;
            this.link = link;
            this.rings = rings;
        }

        int poll(FrameHandler frames, int limit) {
            if (handler == null) {
                handler = rings.isEmpty()
                        ? (buffer, offset, length, _) -> frames.onFrame(node, buffer, offset, length, null, 0)
                        : (buffer, offset, length, header) -> take(frames, buffer, offset, length, header);
            }
            int polled = subscription.poll(handler, limit);
            if (failure != null) { // Aeron would only log it
                throw failure;
            }
            return polled;
        }

        private void take(FrameHandler frames, DirectBuffer buffer, int offset, int length, Header header) {
            long end = header.reservedValue();
            Ring source = end == 0 ? null : ringOf(header.sessionId());
            try {
                frames.onFrame(node, buffer, offset, length, source, end);
            } finally {
                if (source != null) {
                    source.free(end);
                }
            }
        }

        /** Returns the ring of a session of the stream; null where there is none, so that the frame has no payload. */
        private Ring ringOf(int session) {
            if (ring == null || ringSession != session) {
                Path file = rings.orElseThrow().apply(session);
                try {
                    Ring opened = Ring.open(file);
                    releaseRing();
                    ring = opened;
                    ringSession = session;
                } catch (NoSuchFileException stranger) {
                    LOG.debug("a frame names the ring {}, which is not there", file);
                    return null;
                } catch (IOException e) {
                    failure = new TransportException("the transport could not open " + file
                            + ", through which node " + node + " sends: " + e, e);
                    return null;
                }
            }
            return ring;
        }

        private void releaseRing() {
            if (ring != null) {
                ring.close();
                ring = null;
            }
        }

        void close() {
            subscription.close();
            link.close();
            releaseRing();
        }

        /** Releases the rings after the client is closed. */
        void release() {
            link.release();
            releaseRing();
        }
    }

    private AeronClient(Aeron aeron, AtomicReference<Throwable> lastError, Path rings, int nodeCount,
            TransportSettings settings, Counters counters) {
        this.aeron = aeron;
        this.rings = rings;
        this.lastError = lastError;
        this.settings = settings;
        this.counters = counters;
        this.ways = new Way[nodeCount];
    }

    /**
     * Connects to the driver and opens every stream; the stream to this process itself is connected when this returns.
     *
     * @throws TransportException
     *             if a channel cannot be opened
     */
    static AeronClient open(Driver driver, NodeMap nodes, TransportSettings settings, Counters counters) {
        var lastError = new AtomicReference<Throwable>();
        Aeron.Context context = new Aeron.Context().aeronDirectoryName(driver.directory().toString())
                .useConductorAgentInvoker(true)
                .driverTimeoutMs(TimeUnit.SECONDS.toMillis(TransportSettings.LIVENESS_TIMEOUT_SECONDS))
                .errorHandler(error -> {
                    lastError.set(error);
                    LOG.warn("the Aeron client reports an error: {}", error.toString());
                    LOG.debug("where it came from", error);
                });
        var client = new AeronClient(Aeron.connect(context), lastError,
                driver.directory().resolve(DriverDirectory.RINGS), nodes.nodeCount(), settings, counters);
        try {
            client.enter(nodes);
            client.awaitOwnLink(client.link(nodes.self()));
            return client;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /**
     * Opens the streams of a map that are not open, and closes open ones that are not in the map.
     *
     * @throws TransportException
     *             if a channel cannot be opened
     */
    void enter(NodeMap nodes) {
        List<Way> gone = new ArrayList<>();
        for (int node = 0; node < ways.length; node++) {
            Way before = ways[node];
            boolean isPeer = nodes.peers().contains(node);
            int since = nodes.streamsSince(nodes.self(), node);
            if (before == null || !isPeer || before.since != since) {
                ways[node] = isPeer ? open(nodes, node, since) : null;
                if (before != null) {
                    gone.add(before);
                }
            }
        }
        open = Stream.of(ways).filter(Objects::nonNull).toList();
        // Old streams are closed last, since a port is released with its last stream.
        gone.forEach(Way::close);
    }

    private Way open(NodeMap nodes, int node, int since) {
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
        Link link;
        try {
            ExclusivePublication publication = aeron.addExclusivePublication(out, outId);
            Optional<Ring> ring = hasRing
                    ? Optional.of(ring(ringOf(outId, publication.sessionId())))
                    : Optional.empty();
            link = new Link(node, !shareMachine, publication, ring, settings.linkTimeout().toNanos(), counters);
        } catch (RuntimeException e) {
            throw refused(out, "send to", e);
        }
        return new Way(node, since, subscription, link,
                hasRing ? Optional.of(session -> ringOf(inId, session)) : Optional.empty());
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

    /**
     * Returns an id that no other stream of the driver ever has: the streams of a killed process exist for as long as a
     * process may pause.
     */
    private int streamId(NodeMap nodes, int fromNode, int toNode, int since) {
        if (fromNode == toNode) {
            return ownStreamId();
        }
        int pairs = nodes.nodeCount() * nodes.nodeCount();
        return FIRST_STREAM_ID + fromNode * nodes.nodeCount() + toNode - since * pairs;
    }

    /** The stream of this process to itself. */
    int ownStreamId() {
        return FIRST_OWN_STREAM_ID + (int) aeron.clientId();
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

    /** The stream to a peer. */
    Link link(int node) {
        return ways[node].link;
    }

    /**
     * Does the client's housekeeping; returns the amount of work.
     *
     * @throws IllegalStateException
     *             if the client has closed itself
     */
    int invoke() {
        int work = aeron.conductorAgentInvoker().invoke();
        if (aeron.isClosed()) {
            throw new IllegalStateException("the Aeron client has closed itself", lastError.get());
        }
        return work;
    }

    /** Receives up to {@code limit} frames from each node; returns their number. */
    int poll(FrameHandler handler, int limit) {
        int frames = 0;
        for (Way way : open) {
            frames += way.poll(handler, limit);
        }
        return frames;
    }

    @Override
    public void close() {
        try {
            aeron.close();
        } catch (RuntimeException e) {
            LOG.warn("the Aeron client did not close cleanly", e);
        }
        Stream.of(ways).filter(Objects::nonNull).forEach(Way::release);
    }
}
