package dev.troupe.transport.aeron;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.IntFunction;

import org.agrona.DirectBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.troupe.wire.Ring;
import dev.troupe.transport.TransportException;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;

/** The streams from a node and to it. Belongs to the transport thread. */
final class StreamWay implements AeronClient.Way {
    private static final Logger LOG = LoggerFactory.getLogger(StreamWay.class);

    private final int node;
    private final int since;
    private final Subscription subscription;
    private final StreamLink link;
    /** The file of the ring of the incoming stream, by session; empty where payloads are in their frames. */
    private final Optional<IntFunction<Path>> rings;
    // Created once, since a new object for each poll would be garbage.
    private FragmentHandler handler;
    private Ring ring;
    private int ringSession;
    private RuntimeException failure;

    StreamWay(int node, int since, Subscription subscription, StreamLink link,
            Optional<IntFunction<Path>> rings) {
        this.node = node;
        this.since = since;
        this.subscription = subscription;
        this.link = link;
        this.rings = rings;
    }

    @Override
    public int since() {
        return since;
    }

    @Override
    public StreamLink link() {
        return link;
    }

    @Override
    public int poll(Arrivals frames, int limit) {
        if (handler == null) {
            handler = rings.isEmpty()
                    ? (buffer, offset, length, header) -> frames.onFrame(node, buffer, offset, length,
                            link.handedOver(header.sessionId(), header.reservedValue()))
                    : (buffer, offset, length, header) -> take(frames, buffer, offset, length, header);
        }
        int polled = subscription.poll(handler, limit);
        if (failure != null) { // Aeron would only log it
            throw failure;
        }
        return polled;
    }

    private void take(Arrivals frames, DirectBuffer buffer, int offset, int length, Header header) {
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

    @Override
    public void close() {
        subscription.close();
        link.close();
        releaseRing();
    }

    @Override
    public void release() {
        link.release();
        releaseRing();
    }
}
