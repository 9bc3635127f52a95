package dev.troupe.transport.aeron;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

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
    private static final long CONNECT_TIMEOUT_SECONDS = 10;

    private final Aeron aeron;
    private final AtomicReference<Throwable> lastError;
    // By node; null for nodes that are no peers.
    private final Link[] links;
    private final List<Inlet> inlets = new ArrayList<>();

    /** Receives the bytes of one frame. */
    interface FrameHandler {
        void onFrame(int fromNode, DirectBuffer buffer, int offset, int length);
    }

    /** The stream from a node. */
    private static final class Inlet {
        private final int node;
        private final Subscription subscription;
        // Made once: one a poll would be garbage.
        private FragmentHandler handler;

        Inlet(int node, Subscription subscription) {
            this.node = node;
            this.subscription = subscription;
        }

        int poll(FrameHandler frames, int limit) {
            if (handler == null) {
                handler = (buffer, offset, length, header) -> frames.onFrame(node, buffer, offset, length);
            }
            return subscription.poll(handler, limit);
        }
    }

    private AeronClient(Aeron aeron, AtomicReference<Throwable> lastError, int nodeCount) {
        this.aeron = aeron;
        this.lastError = lastError;
        this.links = new Link[nodeCount];
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
        var client = new AeronClient(Aeron.connect(context), lastError, nodes.nodeCount());
        try {
            client.openStreams(nodes, settings, tally);
            client.awaitOwnLink(client.link(nodes.self()));
            return client;
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    private void openStreams(NodeMap nodes, TransportSettings settings, Tally tally) {
        int self = nodes.self();
        for (int node : nodes.peers()) {
            String in = settings.receives(nodes.channel(node, self));
            try {
                inlets.add(new Inlet(node, aeron.addSubscription(in, streamId(nodes, node, self))));
            } catch (RuntimeException e) {
                throw refused(in, "receive on", e);
            }
        }
        for (int node : nodes.peers()) {
            String out = settings.sends(nodes.channel(self, node));
            try {
                links[node] = new Link(node, node != self,
                        aeron.addExclusivePublication(out, streamId(nodes, self, node)),
                        settings.linkTimeout().toNanos(), tally);
            } catch (RuntimeException e) {
                throw refused(out, "send to", e);
            }
        }
    }

    private static TransportException refused(String channel, String verb, RuntimeException cause) {
        return new TransportException("the transport could not " + verb + " the channel " + channel + ": "
                + cause.getMessage() + "; see that the address is of this machine and its port is free", cause);
    }

    private static int streamId(NodeMap nodes, int fromNode, int toNode) {
        return FIRST_STREAM_ID + fromNode * nodes.nodeCount() + toNode;
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

    /** The stream to a peer; null for a node that is none. */
    Link link(int node) {
        return links[node];
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
        for (Inlet inlet : inlets) {
            frames += inlet.poll(handler, limit);
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
