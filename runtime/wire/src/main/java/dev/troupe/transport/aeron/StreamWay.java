package dev.troupe.transport.aeron;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.device.ReceivingRing;
import dev.troupe.transport.device.ReceivingRings;
import dev.troupe.transport.device.RetiredRings;
import dev.troupe.transport.device.Stamp;
import dev.troupe.wire.Ring;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;
import org.agrona.DirectBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The streams from a node and to it. Belongs to the transport thread. */
final class StreamWay implements AeronClient.Way {
    private static final Logger LOG = LoggerFactory.getLogger(StreamWay.class);

    private final int node;
    private final int since;
    private final Subscription subscription;
    private final StreamLink link;
    /** The file of the ring of the incoming stream, by session; empty where payloads are in their frames. */
    private final Optional<IntFunction<Path>> rings;
    /** Rings of devices; empty but for streams from other processes of this machine. */
    private final Optional<ReceivingRings<PostedReceives.Landing>> devices;
    private final RetiredRings retired;
    private final OnDevice onDevice = new OnDevice();
    private BiConsumer<PostedReceives.Landing, RuntimeException> arrived;
    // Created once, since a new object for each poll would be garbage.
    private FragmentHandler handler;
    private Ring ring;
    private int ringSession;
    private RuntimeException failure;

    /** The payload of a frame that is in a ring of a device; reused from frame to frame. */
    private static final class OnDevice implements Arrivals.Payload {
        private ReceivingRing<PostedReceives.Landing> ring;
        private long end;
        private boolean isTaken;

        @Override
        public DropReason read(Frame frame, DirectBuffer buffer, int offset, int length) {
            return frame.readHeader(buffer, offset, length, ring.positions(), end);
        }

        @Override
        public DropReason land(PostedReceives receives, Frame frame) {
            PostedReceives.Landing place = new PostedReceives.Landing();
            DropReason refused = receives.admit(frame, place);
            if (refused != null) {
                return refused;
            }
            Fence copied;
            try {
                copied = ring.copy(end, place.length(), place.engine(), place.tensor(), place.offset());
            } catch (RuntimeException e) {
                return receives.failed(place, e);
            }
            receives.begun(place);
            ring.take(end, place, copied);
            isTaken = true;
            return null;
        }
    }

    StreamWay(int node, int since, Subscription subscription, StreamLink link,
            Optional<IntFunction<Path>> rings, Optional<ReceivingRings<PostedReceives.Landing>> devices,
            RetiredRings retired) {
        this.devices = devices;
        this.retired = retired;
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
        return devices.isEmpty() ? polled : polled + progress(frames, devices.get());
    }

    private int progress(Arrivals frames, ReceivingRings<PostedReceives.Landing> of) {
        if (arrived == null) {
            arrived = (place, broken) -> frames.onCopied(node, place, broken);
        }
        return of.progress(arrived);
    }

    @Override
    public void expect(Edge edge, Engine engine) {
        devices.ifPresent(of -> of.expect(edge.fromRank(), edge.toRank(), engine));
    }

    @Override
    public boolean awaitsEngine() {
        return link.awaitsEngine() || devices.isPresent() && devices.get().isBusy();
    }

    @Override
    public void settle(int epoch) {
        link.withdraw(epoch);
        devices.ifPresent(ReceivingRings::settle);
    }

    private void take(Arrivals frames, DirectBuffer buffer, int offset, int length, Header header) {
        long end = header.reservedValue();
        if (Stamp.isStamp(end)) {
            takeOfDevice(frames, buffer, offset, length, end);
            return;
        }
        Ring source = end == 0 ? null : ringOf(header.sessionId());
        try {
            frames.onFrame(node, buffer, offset, length, source, end);
        } finally {
            if (source != null) {
                source.free(end);
            }
        }
    }

    private void takeOfDevice(Arrivals frames, DirectBuffer buffer, int offset, int length, long stamp) {
        onDevice.ring = devices.orElseThrow().of(stamp);
        if (onDevice.ring == null) {
            LOG.debug("a frame names a ring of a device that is not there");
            frames.onFrame(node, buffer, offset, length, (Arrivals.Payload) null);
            return;
        }
        onDevice.end = onDevice.ring.end(stamp);
        onDevice.isTaken = false;
        try {
            frames.onFrame(node, buffer, offset, length, onDevice);
        } finally {
            if (!onDevice.isTaken) {
                onDevice.ring.refuse(onDevice.end);
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
        devices.ifPresent(of -> of.close(retired));
    }

    @Override
    public void release() {
        link.release();
        releaseRing();
        devices.ifPresent(of -> of.close(retired));
    }
}
