package dev.troupe.transport.link;

import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.wire.way.FrameReader;
import dev.troupe.wire.way.FrameWay;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.agrona.DirectBuffer;

/**
 * The frames from one node on a connection. If a broken connection has lost frames, the waiting ranks are notified. Belongs
 * to the transport thread.
 */
final class IncomingConnection implements Link.Incoming, FrameReader {
    /** Bytes per poll before other nodes are polled: some 0.3 ms. */
    private static final int BYTES_PER_POLL = 1 << 20;

    private final int node;
    private final FrameWay way;
    private final Landing landing = new Landing();
    /** Memory for payloads to buffers that are not in this process's memory. */
    private final MemorySegment arriving = MemorySegment
            .ofBuffer(ByteBuffer.allocateDirect(FrameStream.MOST_PAYLOAD));
    private boolean arrivesInTensor;
    /** The receiver of the current {@link #poll}. */
    private Arrivals arrivals;

    IncomingConnection(int node, FrameWay way) {
        this.node = node;
        this.way = way;
    }

    @Override
    public int poll(Arrivals takes, int limit) {
        arrivals = takes;
        return way.poll(this, BYTES_PER_POLL);
    }

    @Override
    public boolean wakes() {
        return true;
    }

    @Override
    public void onLost(long from, long to) {
        arrivals.onLost(node, from, to);
    }

    @Override
    public MemorySegment onHeader(DirectBuffer buffer, int offset, int length, int payloadBytes) throws IOException {
        if (!arrivals.onHeader(node, buffer, offset, length, payloadBytes, landing)) {
            return MemorySegment.NULL;
        }
        Optional<MemorySegment> own = landing.memory();
        arrivesInTensor = own.isPresent();
        return own.orElseGet(() -> arriving.asSlice(0, payloadBytes));
    }

    @Override
    public boolean isWanted() {
        return arrivals.isOpen(landing);
    }

    @Override
    public void onPayload(boolean isWhole) {
        arrivals.onPayload(node, landing, isWhole,
                arrivesInTensor ? Optional.empty() : Optional.of(arriving.asSlice(0, landing.length())));
    }
}
