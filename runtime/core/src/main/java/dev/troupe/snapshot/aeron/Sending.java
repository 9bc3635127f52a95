package dev.troupe.snapshot.aeron;

import dev.troupe.snapshot.SharedSnapshot;
import dev.troupe.snapshot.OutgoingCopy;
import dev.troupe.snapshot.aeron.CopyFrame.Part;
import dev.troupe.snapshot.aeron.CopyFrame.Subject;
import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import io.aeron.logbuffer.BufferClaim;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.zip.CRC32C;

/** A copy on its way to another node, frame by frame. Belongs to the copying thread. */
final class Sending {
    /** The result of an attempt to send the next frame. */
    enum Outcome {
        /** The frame was sent. */
        SENT,
        /** The receiver has not read enough yet: try again. */
        LATER,
        /** The snapshot has been overwritten. */
        GONE,
        /** No receiver is connected. */
        UNHEARD,
        /** The stream takes no frames any more. */
        CLOSED
    }

    private static final int LINE_BYTES = 64;

    private final Subject subject;
    private final OutgoingCopy source;
    /** The part that is sent first. */
    private final byte[] head;
    private final Part last;
    private final CRC32C sum;
    private Part part;
    private long position;

    /**
     * @param door
     *            the door of this process
     * @param sharesMemory
     *            whether the receiver may map the memory instead of receiving the bytes
     */
    Sending(Subject subject, OutgoingCopy source, int door, boolean sharesMemory) {
        this.subject = subject;
        this.source = source;
        Optional<SharedSnapshot> shared = sharesMemory ? source.shared() : Optional.empty();
        this.head = shared.map(memory -> new SharedSnapshotNote(door, memory).encode())
                .orElseGet(() -> source.layout().encode());
        this.part = shared.isPresent() ? Part.SHARED : Part.LAYOUT;
        this.last = shared.isPresent() ? Part.SHARED : Part.BYTES;
        this.sum = subject.checksum();
    }

    Subject subject() {
        return subject;
    }

    boolean isDone() {
        return part == last && position == total();
    }

    private long total() {
        return part == Part.BYTES ? source.layout().byteCount() : head.length;
    }

    /** Returns the bytes of the next frame's part. */
    private int nextBytes(ExclusivePublication stream) {
        int room = stream.maxPayloadLength() - CopyFrame.HEADER_BYTES;
        return (int) Math.min(total() - position, room - room % LINE_BYTES);
    }

    /** Sends the next frame, unless {@link #isDone}. */
    Outcome sendNext(ExclusivePublication stream, BufferClaim claim) {
        int bytes = nextBytes(stream);
        long claimed = stream.tryClaim(CopyFrame.HEADER_BYTES + bytes, claim);
        if (claimed <= 0) {
            return refused(claimed);
        }
        ByteBuffer payload = CopyFrame.payload(claim.buffer(), claim.offset(), bytes);
        if (!fill(MemorySegment.ofBuffer(payload))) {
            claim.abort();
            return Outcome.GONE;
        }
        sum.update(payload); // the checksum of the sent bytes, since the memory may be overwritten later
        CopyFrame.write(claim.buffer(), claim.offset(), part, subject, total(), position, (int) sum.getValue());
        claim.commit();
        position += bytes;
        if (part != last && position == total()) {
            part = Part.BYTES;
            position = 0;
        }
        return Outcome.SENT;
    }

    private static Outcome refused(long code) {
        if (code == Publication.NOT_CONNECTED) {
            return Outcome.UNHEARD;
        }
        return code == Publication.CLOSED || code == Publication.MAX_POSITION_EXCEEDED ? Outcome.CLOSED : Outcome.LATER;
    }

    private boolean fill(MemorySegment payload) {
        if (part == Part.BYTES) {
            return source.read(position, payload);
        }
        payload.copyFrom(MemorySegment.ofArray(head).asSlice(position, payload.byteSize()));
        return true;
    }
}
