package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import java.lang.foreign.MemorySegment;
import org.agrona.MutableDirectBuffer;

/** The stream of a member to all others on its channel. */
final class AeronRoute implements Route {
    private final ExclusivePublication publication;
    private final int member;
    private final SegmentWriter writer = new SegmentWriter();
    private final LogMemory memory = new LogMemory();
    private final BufferClaim claim = new BufferClaim();

    AeronRoute(ExclusivePublication publication, int member) {
        this.publication = publication;
        this.member = member;
    }

    int mostPayload() {
        return publication.maxPayloadLength() - SegmentFrame.HEADER_BYTES;
    }

    @Override
    public boolean put(SegmentFrame.Kind kind, int epoch, long sequence, Call call, int root, MemorySegment source,
            long at, int bytes, long offset, int to) {
        if (!claim(bytes)) {
            return false;
        }
        MutableDirectBuffer buffer = claim.buffer();
        writer.write(buffer, claim.offset(), kind, epoch, sequence, call, root, offset, to);
        if (bytes > 0) {
            MemorySegment.copy(source, at, memory.of(buffer),
                    LogMemory.position(buffer, claim.offset() + SegmentFrame.HEADER_BYTES), bytes);
        }
        claim.commit();
        return true;
    }

    private boolean claim(int payloadBytes) {
        long position = publication.tryClaim(SegmentFrame.HEADER_BYTES + payloadBytes, claim);
        if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
            throw new IllegalStateException(position == Publication.CLOSED
                    ? "the stream of member " + member + " is closed: its client has lost the media driver"
                    : "the stream of member " + member + " has carried all the bytes that Aeron can number");
        }
        return position > 0;
    }

    @Override
    public boolean putEnd(int epoch, long sequence, Call call, int root, MemorySegment text) {
        return !publication.isConnected() || put(SegmentFrame.Kind.END, epoch, sequence, call, root, text, 0,
                (int) Math.min(text.byteSize(), mostPayload()), 0, SegmentFrame.FOR_ALL);
    }

    @Override
    public boolean flush() {
        return true;
    }

    @Override
    public boolean isClosed() {
        return publication.isClosed();
    }

    @Override
    public void close() {
        publication.close();
    }
}
