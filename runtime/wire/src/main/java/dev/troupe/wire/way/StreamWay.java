package dev.troupe.wire.way;

import dev.troupe.wire.LogMemory;
import dev.troupe.wire.Window;
import io.aeron.ExclusivePublication;
import io.aeron.logbuffer.BufferClaim;
import java.lang.foreign.MemorySegment;
import org.agrona.MutableDirectBuffer;

/** A stream of Aeron, to all that read it. */
public final class StreamWay implements FrameWay {
    private final ExclusivePublication publication;
    private final BufferClaim claim = new BufferClaim();
    private final Window window = new Window();
    private final LogMemory memory = new LogMemory();
    private int headerBytes;
    private int payloadBytes;

    /** Creates the carrier of a publication, which is closed with it. */
    public StreamWay(ExclusivePublication publication) {
        this.publication = publication;
    }

    /** Returns the number by which receivers distinguish the stream from others of its channel. */
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

    /** Sends a number with the claimed frame, which its receiver finds as the reserved value of the Aeron header. */
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

    /** {@inheritDoc} Receivers skip it as padding. */
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

    /** {@inheritDoc} The media driver would keep the frames for a dead reader for as long as a client may pause. */
    @Override
    public void revoke() {
        publication.revoke();
    }
}
