package dev.troupe.transport.link;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.device.ReceivingRing;
import dev.troupe.transport.device.ReceivingRings;
import dev.troupe.transport.device.RetiredRings;
import dev.troupe.transport.device.Stamp;
import dev.troupe.transport.frame.Frame;
import dev.troupe.wire.Ring;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.BiConsumer;
import java.util.function.IntFunction;
import org.agrona.DirectBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The frames from another process of this machine, with headers on a stream and payloads in rings. Belongs to the transport
 * thread.
 */
final class IncomingRings implements Link.Incoming {
    private static final Logger LOG = LoggerFactory.getLogger(IncomingRings.class);

    private final int node;
    private final Subscription subscription;
    private final IntFunction<Path> files;
    private final ReceivingRings<Landing> devices;
    private final RetiredRings retired;
    private final OnDevice onDevice = new OnDevice();
    // Created once, since new objects for each poll would be garbage.
    private FragmentHandler handler;
    private BiConsumer<Landing, RuntimeException> copied;
    private Ring ring;
    private int ringSession;
    private RuntimeException failure;

    /** The payload of a frame in a ring of a device; one object is reused for all frames. */
    private static final class OnDevice implements Arrivals.Payload {
        private ReceivingRing<Landing> ring;
        private long end;
        private boolean isTaken;

        @Override
        public DropReason read(Frame frame, DirectBuffer buffer, int offset, int length) {
            return frame.readHeader(buffer, offset, length, ring.positions(), end);
        }

        @Override
        public DropReason land(PostedReceives receives, Frame frame) {
            Landing place = new Landing();
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

    /**
     * @param files gives the file of the sender's ring in shared memory, by the session of its stream
     */
    IncomingRings(int node, Subscription subscription, IntFunction<Path> files,
            ReceivingRings<Landing> devices, RetiredRings retired) {
        this.node = node;
        this.subscription = subscription;
        this.files = files;
        this.devices = devices;
        this.retired = retired;
    }

    @Override
    public int poll(Arrivals frames, int limit) {
        if (handler == null) {
            handler = (buffer, offset, length, header) -> take(frames, buffer, offset, length, header);
            copied = (place, broken) -> frames.onCopied(node, place, broken);
        }
        int polled = subscription.poll(handler, limit);
        if (failure != null) { // Aeron would only log it
            throw failure;
        }
        return polled + devices.progress(copied);
    }

    @Override
    public void expect(Edge edge, Engine engine) {
        devices.expect(edge.fromRank(), edge.toRank(), engine);
    }

    @Override
    public boolean awaitsEngine() {
        return devices.isBusy();
    }

    @Override
    public void settle() {
        devices.settle();
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
        onDevice.ring = devices.of(stamp);
        if (onDevice.ring == null) {
            LOG.debug("a frame names a ring in a device's memory that does not exist");
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

    /**
     * Returns the ring of a sender by the session of its stream; null if its file is gone, so its frames have no payload.
     */
    private Ring ringOf(int session) {
        if (ring == null || ringSession != session) {
            Path file = files.apply(session);
            try {
                Ring opened = Ring.open(file);
                releaseRing();
                ring = opened;
                ringSession = session;
            } catch (NoSuchFileException absent) {
                LOG.debug("a frame names the ring {}, which does not exist", file);
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
        releaseRing();
        devices.close(retired);
    }
}
