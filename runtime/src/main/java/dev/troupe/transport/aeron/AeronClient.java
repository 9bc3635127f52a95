package dev.troupe.transport.aeron;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import org.agrona.DirectBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportSettings;
import io.aeron.Aeron;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;

/**
 * The streams of this node: one out to and one in from every peer, itself included. It has no thread of its own:
 * {@link #invoke} does the client's housekeeping on the transport thread.
 */
final class AeronClient implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AeronClient.class);
    /** Stream ids begin here: 0 is often a default of others. */
    private static final int FIRST_STREAM_ID = 7000;
    /** Of streams of a process to itself. */
    private static final int FIRST_OWN_STREAM_ID = Integer.MIN_VALUE;
    private static final long CONNECT_TIMEOUT_SECONDS = 10;

    private final Aeron aeron;
    private final AtomicReference<Throwable> lastError;
    private final TransportSettings settings;
    private final Tally tally;
    // By node; null for nodes that are no peers.
    private final Way[] ways;
    private List<Way> open = List.of();

    /** Receives the bytes of one frame. */
    interface FrameHandler {
        void onFrame(int fromNode, DirectBuffer buffer, int offset, int length);
    }

    /** The streams from a node and to it. */
    private static final class Way {
        private final int node;
        private final int since;
        private final Subscription subscription;
        private final Link link;
        // Made once: one a poll would be garbage.
        private FragmentHandler handler;

        Way(int node, int since, Subscription subscription, Link link) {
            this.node = node;
            this.since = since;
            this.subscription = subscription;
            this.link = link;
        }

        int poll(FrameHandler frames, int limit) {
            if (handler == null) {
                handler = (buffer, offset, length, header) -> frames.onFrame(node, buffer, offset, length);
            }
            return subscription.poll(handler, limit);
        }

        void close() {
            subscription.close();
            link.close();
        }
    }

    private AeronClient(Aeron aeron, AtomicReference<Throwable> lastError, int nodeCount, TransportSettings settings,
            Tally tally) {
        this.aeron = aeron;
        this.lastError = lastError;
        this.settings = settings;
        this.tally = tally;
        this.ways = new Way[nodeCount];
    }

    /**
     * Connects to the driver and opens every stream; the one to ourselves is connected when this returns.
     *
     * @throws TransportException
     *             if a channel cannot be opened
     */
    static AeronClient open(Driver driver, NodeMap nodes, TransportSettings settings, Tally tally) {
        var lastError = new AtomicReference<Throwable>();
        Aeron.Context context = new Aeron.Context().aeronDirectoryName(driver.directory().toString())
                .useConductorAgentInvoker(true)
                .driverTimeoutMs(TimeUnit.SECONDS.toMillis(TransportSettings.LIVENESS_TIMEOUT_SECONDS))
                .errorHandler(error -> {
                    lastError.set(error);
                    LOG.warn("the Aeron client reports an error: {}", error.toString());
                    LOG.debug("where it came from", error);
                });
        var client = new AeronClient(Aeron.connect(context), lastError, nodes.nodeCount(), settings, tally);
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
     * Opens the streams of a map that are not open, and closes those that are not of it.
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
        // Last, since a port is given up with its last stream.
        gone.forEach(Way::close);
    }

    private Way open(NodeMap nodes, int node, int since) {
        int self = nodes.self();
        String in = settings.receives(nodes.channel(node, self));
        String out = settings.sends(nodes.channel(self, node));
        Subscription subscription;
        try {
            subscription = aeron.addSubscription(in, streamId(nodes, node, self, since));
        } catch (RuntimeException e) {
            throw refused(in, "receive on", e);
        }
        try {
            return new Way(node, since, subscription, new Link(node, node != self,
                    aeron.addExclusivePublication(out, streamId(nodes, self, node, since)),
                    settings.linkTimeout().toNanos(), tally));
        } catch (RuntimeException e) {
            throw refused(out, "send to", e);
        }
    }

    private static TransportException refused(String channel, String verb, RuntimeException cause) {
        return new TransportException("the transport could not " + verb + " the channel " + channel + ": "
                + cause.getMessage()
                + "; see that the address is of this machine, its port is free, and the media driver has room", cause);
    }

    /** Of no other stream of the driver, whenever: a killed process has its streams for as long as one may pause. */
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
     * The client's housekeeping; returns how much was done.
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

    /** Receives up to {@code limit} frames from each node; returns how many. */
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
    }
}
