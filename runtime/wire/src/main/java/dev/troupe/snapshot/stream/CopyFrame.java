package dev.troupe.snapshot.stream;

import dev.troupe.wire.WireHeader;
import dev.troupe.wire.sbe.CopyDecoder;
import dev.troupe.wire.sbe.CopyEncoder;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A frame with a part of a copy. The frames of a copy are its layout and then its bytes, in order, each with the CRC32C of
 * all so far. A copy in shared memory has a single frame with a {@link SharedSnapshotNote}. One thread at a time.
 */
final class CopyFrame {
    /** Bytes before the payload, a cache line. The last ones are free for a connection's checksum. */
    static final int HEADER_BYTES = WireHeader.BYTES + CopyDecoder.BLOCK_LENGTH;

    private static final Part[] PARTS = Part.values();

    /** The part of a copy in a frame. */
    enum Part {
        /** Bytes of the layout; the total counts the layout's bytes. */
        LAYOUT,
        /** Bytes of the snapshot; the total counts the snapshot's bytes. */
        BYTES,
        /** A {@link SharedSnapshotNote}, the only frame of the copy. */
        SHARED,
        /** No payload: the receiver cannot map the memory and asks for the bytes. */
        DECLINED
    }

    /** The identity of a copy: rank, stage and steps done, and its sender. */
    record Subject(int fromNode, int rank, int stage, long stepsDone) {
        /** Returns a checksum of the identity, to be continued over all parts. */
        CRC32C checksum() {
            CRC32C sum = new CRC32C();
            sum.update(ByteBuffer.allocate(3 * Integer.BYTES + Long.BYTES).putInt(fromNode).putInt(rank).putInt(stage)
                    .putLong(stepsDone).flip());
            return sum;
        }
    }

    private final WireHeader header = new WireHeader();
    private final CopyDecoder copy = new CopyDecoder();
    private final CopyEncoder encoder = new CopyEncoder();
    private DirectBuffer buffer;
    private int start;
    private int length;

    /** Writes a header, {@link #HEADER_BYTES} bytes. */
    void write(MutableDirectBuffer target, int at, Part part, Subject subject, long total, long offset, int checksum) {
        target.setMemory(at, HEADER_BYTES, (byte) 0);
        header.write(target, at, CopyEncoder.TEMPLATE_ID, CopyEncoder.BLOCK_LENGTH);
        encoder.wrap(target, at + WireHeader.BYTES).stepsDone(subject.stepsDone()).total(total).partOffset(offset)
                .fromNode(subject.fromNode()).rank(subject.rank()).stage(subject.stage())
                .sum(Integer.toUnsignedLong(checksum)).part((short) part.ordinal());
    }

    /** Reads a frame from any bytes; returns false if they are no frame. */
    boolean wrap(DirectBuffer bytes, int at, int frameLength) {
        buffer = bytes;
        start = at;
        length = frameLength;
        if (frameLength < HEADER_BYTES
                || !header.reads(bytes, at, CopyDecoder.TEMPLATE_ID, CopyDecoder.BLOCK_LENGTH)) {
            return false;
        }
        copy.wrap(bytes, at + WireHeader.BYTES, CopyDecoder.BLOCK_LENGTH, CopyDecoder.SCHEMA_VERSION);
        return copy.part() < PARTS.length && copy.fromNode() >= 0 && copy.rank() >= 0 && copy.stage() >= 0
                && copy.stepsDone() >= 0 && offset() >= 0 && offset() <= total() - payloadBytes();
    }

    Part part() {
        return PARTS[copy.part()];
    }

    Subject subject() {
        return new Subject(copy.fromNode(), copy.rank(), copy.stage(), copy.stepsDone());
    }

    boolean isOf(Subject subject) {
        return subject.fromNode() == copy.fromNode() && subject.rank() == copy.rank()
                && subject.stage() == copy.stage() && subject.stepsDone() == copy.stepsDone();
    }

    /** Returns the bytes of the whole layout, snapshot or note. */
    long total() {
        return copy.total();
    }

    long offset() {
        return copy.partOffset();
    }

    /** Returns the CRC32C over the identity and all parts up to this one. */
    int checksum() {
        return (int) copy.sum();
    }

    int payloadBytes() {
        return length - HEADER_BYTES;
    }

    /** Returns the payload, valid as long as the frame. */
    ByteBuffer payload() {
        int at = buffer.wrapAdjustment() + start + HEADER_BYTES;
        return buffer.byteBuffer().duplicate().limit(at + payloadBytes()).position(at);
    }

    MemorySegment payloadSegment() {
        return MemorySegment.ofBuffer(payload());
    }
}
