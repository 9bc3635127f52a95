package dev.troupe.snapshot.aeron;

import dev.troupe.snapshot.aeron.CopyFrame.Part;
import dev.troupe.snapshot.aeron.CopyFrame.Subject;
import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.copy.SharedSnapshot;
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

    private final CopyWriter writer = new CopyWriter();
    private final Subject subject;
    private final OutgoingCopy source;
    /** The part that is sent first. */
    private final byte[] head;
    private final Part last;
    private final CRC32C sum;
    private Part part;
    private long position;
    private int lastBytes;

    /**
     * @param door the door of this process
     * @param sharesMemory whether the receiver may map the memory instead of receiving the bytes
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
    private int nextBytes(CopyStream stream) {
        int room = stream.mostPayload();
        return (int) Math.min(total() - position, room - room % LINE_BYTES);
    }

    /** Sends the next frame, unless {@link #isDone}. */
    Outcome sendNext(CopyStream stream) {
        int bytes = nextBytes(stream);
        return switch (stream.begin(bytes)) {
            case THERE -> send(stream, bytes);
            case LATER -> Outcome.LATER;
            case UNHEARD -> Outcome.UNHEARD;
            case CLOSED -> Outcome.CLOSED;
        };
    }

    private Outcome send(CopyStream stream, int bytes) {
        ByteBuffer payload = CopyFrame.payload(stream.buffer(), stream.offset(), bytes);
        if (!fill(MemorySegment.ofBuffer(payload))) {
            stream.abort();
            return Outcome.GONE;
        }
        sum.update(payload); // the checksum of the sent bytes, since the memory may be overwritten later
        writer.write(stream.buffer(), stream.offset(), part, subject, total(), position, (int) sum.getValue());
        stream.commit();
        lastBytes = CopyFrame.HEADER_BYTES + bytes;
        position += bytes;
        if (part != last && position == total()) {
            part = Part.BYTES;
            position = 0;
        }
        return Outcome.SENT;
    }

    /** The bytes of the frame that was sent last. */
    int lastBytes() {
        return lastBytes;
    }

    private boolean fill(MemorySegment payload) {
        if (part == Part.BYTES) {
            return source.read(position, payload);
        }
        payload.copyFrom(MemorySegment.ofArray(head).asSlice(position, payload.byteSize()));
        return true;
    }
}
