package dev.troupe.snapshot.aeron;

import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import org.agrona.MutableDirectBuffer;

/** A stream of Aeron to another process. */
record AeronCopyStream(ExclusivePublication publication, BufferClaim claim) implements CopyStream {
    @Override
    public boolean isConnected() {
        return publication.isConnected();
    }

    @Override
    public int mostPayload() {
        return publication.maxPayloadLength() - CopyFrame.HEADER_BYTES;
    }

    @Override
    public Room begin(int payloadBytes) {
        long claimed = publication.tryClaim(CopyFrame.HEADER_BYTES + payloadBytes, claim);
        if (claimed > 0) {
            return Room.THERE;
        }
        if (claimed == Publication.NOT_CONNECTED) {
            return Room.UNHEARD;
        }
        return claimed == Publication.CLOSED || claimed == Publication.MAX_POSITION_EXCEEDED
                ? Room.CLOSED
                : Room.LATER;
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
    public void commit() {
        claim.commit();
    }

    @Override
    public void abort() {
        claim.abort();
    }

    @Override
    public int flush() {
        return 0; // the media driver's work
    }

    @Override
    public void close() {
        publication.close();
    }
}
