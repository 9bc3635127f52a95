package dev.troupe.wire.way;

import dev.troupe.wire.LogMemory;
import dev.troupe.wire.Window;
import io.aeron.ExclusivePublication;
import io.aeron.logbuffer.BufferClaim;
import java.lang.foreign.MemorySegment;
import org.agrona.MutableDirectBuffer;

/** The carrier over an Aeron stream, for all its readers. */
public final class StreamWay implements FrameWay {
    private final ExclusivePublication publication;
    private final BufferClaim claim = new BufferClaim();
    private final Window window = new Window();
    private final LogMemory memory = new LogMemory();
    private int headerBytes;
    private int payloadBytes;

    /** Creates the carrier of a publication, which it owns. */
    public StreamWay(ExclusivePublication publication) {
        this.publication = publication;
    }

    /** Returns the session id, which distinguishes the stream from others of its channel. */
    public int sessionId() {
        return publication.sessionId();
    }

    @Override
    public int maxPayload(int header) {
        return publication.maxPayloadLength() - header;
    }

    @Override
    public Outcome tryClaim(int header, int payload) {
        headerBytes = header;
        payloadBytes = payload;
        return Outcome.of(publication.tryClaim(header + payload, claim));
    }

    @Override
    public MutableDirectBuffer buffer() {
        return claim.buffer();
    }

    @Override
    public int offset() {
        return claim.offset();
    }

    @Override
    public MemorySegment payload() {
        return window.segment(claim.buffer(), claim.offset() + headerBytes, payloadBytes);
    }

    /** Adds a number to the claimed frame, as the reserved value of its Aeron header. */
    public void stamp(long number) {
        claim.reservedValue(number);
    }

    @Override
    public Outcome commit() {
        claim.commit();
        return Outcome.ACCEPTED;
    }

    @Override
    public Outcome commit(MemorySegment source, long from) {
        if (payloadBytes > 0) {
            MutableDirectBuffer frame = claim.buffer();
            MemorySegment.copy(source, from, memory.of(frame),
                    LogMemory.position(frame, claim.offset() + headerBytes), payloadBytes);
        }
        return commit();
    }

    /** {@inheritDoc} The frame becomes padding, which receivers skip. */
    @Override
    public void abort() {
        claim.abort();
    }

    @Override
    public boolean isConnected() {
        return publication.isConnected();
    }

    @Override
    public boolean isClosed() {
        return publication.isClosed();
    }

    @Override
    public void close() {
        publication.close();
    }

    /** {@inheritDoc} Otherwise the media driver would keep the frames for a dead reader until its liveness timeout. */
    @Override
    public void revoke() {
        publication.revoke();
    }
}
