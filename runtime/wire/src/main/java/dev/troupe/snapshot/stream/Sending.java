package dev.troupe.snapshot.stream;

import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.stream.CopyFrame.Part;
import dev.troupe.snapshot.stream.CopyFrame.Subject;
import dev.troupe.wire.way.FrameWay;
import dev.troupe.wire.way.Outcome;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.zip.CRC32C;

/** A copy that is being sent to another node, frame by frame. Belongs to the copying thread. */
final class Sending {
    private static final int LINE_BYTES = 64;

    private final CopyFrame frame = new CopyFrame();
    private final FrameWay way;
    /** The connection of the frames so far; the copy starts again on another one. */
    private final int connection;
    private final Subject subject;
    private final OutgoingCopy source;
    /** The first part: the layout, or the note of a shared snapshot. */
    private final byte[] head;
    private final Part last;
    private final CRC32C sum;
    private Part part;
    private long position;
    private int lastBytes;
    private boolean isOverwritten;

    /**
     * @param receiverId the number under which this process receives copies
     * @param sharesMemory whether the receiver may map the memory instead of receiving the bytes
     */
    Sending(FrameWay way, Subject subject, OutgoingCopy source, int receiverId, boolean sharesMemory) {
        this.way = way;
        this.connection = way.connection();
        this.subject = subject;
        this.source = source;
        Optional<SharedSnapshot> shared = sharesMemory ? source.shared() : Optional.empty();
        this.head = shared.map(memory -> new SharedSnapshotNote(receiverId, memory).encode())
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
    private int nextBytes() {
        int room = way.maxPayload(CopyFrame.HEADER_BYTES);
        return (int) Math.min(total() - position, room - room % LINE_BYTES);
    }

    /**
     * Sends the next frame; not to be called if {@link #isDone}.
     *
     * @return {@link Outcome#NOT_CONNECTED} also if the copy must restart on another connection; after {@link
     *     Outcome#ACCEPTED} check {@link #isOverwritten}
     */
    Outcome sendNext() {
        if (way.connection() != connection) {
            return Outcome.NOT_CONNECTED;
        }
        int bytes = nextBytes();
        Outcome claimed = way.tryClaim(CopyFrame.HEADER_BYTES, bytes);
        if (claimed == Outcome.ACCEPTED) {
            write(bytes);
        }
        return claimed;
    }

    private void write(int bytes) {
        MemorySegment payload = way.payload();
        if (!fill(payload)) {
            isOverwritten = true;
            way.abort();
            return;
        }
        sum.update(payload.asByteBuffer()); // the checksum of the sent bytes, since the memory may be overwritten later
        frame.write(way.buffer(), way.offset(), part, subject, total(), position, (int) sum.getValue());
        way.commit();
        lastBytes = CopyFrame.HEADER_BYTES + bytes;
        position += bytes;
        if (part != last && position == total()) {
            part = Part.BYTES;
            position = 0;
        }
    }

    /** Returns whether the snapshot was overwritten, so that its rest cannot be sent. */
    boolean isOverwritten() {
        return isOverwritten;
    }

    /** Returns the bytes of the last frame. */
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
