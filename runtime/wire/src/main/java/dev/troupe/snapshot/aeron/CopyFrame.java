package dev.troupe.snapshot.aeron;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A frame of a copy: the identity of the copy, and a part of it. The frames of a copy are the layout and then the
 * bytes, in order, each with the CRC32C of all so far; or, where the memory is shared, a single frame with a
 * {@link SharedSnapshotNote}. One thread at a time.
 */
final class CopyFrame {
    /** Bytes in front of the payload; a cache line. The last ones are free for a connection's checksum. */
    static final int HEADER_BYTES = 64;

    private static final int MAGIC = 0x59504354;
    private static final short VERSION = 2;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int MAGIC_AT = 0;
    private static final int VERSION_AT = 4;
    private static final int PART_AT = 6;
    private static final int FROM_AT = 8;
    private static final int RANK_AT = 12;
    private static final int STAGE_AT = 16;
    private static final int CHECKSUM_AT = 20;
    private static final int STEPS_AT = 24;
    private static final int TOTAL_AT = 32;
    private static final int OFFSET_AT = 40;

    private static final Part[] PARTS = Part.values();

    /** The part of a copy in a frame. */
    enum Part {
        /** Bytes of the layout; the total is that of the layout. */
        LAYOUT,
        /** Bytes of the snapshot; the total is that of the snapshot. */
        BYTES,
        /** A {@link SharedSnapshotNote}, the only frame of the copy. */
        SHARED,
        /** No payload: a receiver that cannot map the memory asks for the bytes. */
        DECLINED
    }

    /** The subject of a copy: rank, stage and steps, and its sender. */
    record Subject(int fromNode, int rank, int stage, long stepsDone) {
        /** Returns a checksum over the subject, which is continued over all that is sent of it. */
        CRC32C checksum() {
            CRC32C sum = new CRC32C();
            sum.update(ByteBuffer.allocate(3 * Integer.BYTES + Long.BYTES).putInt(fromNode).putInt(rank).putInt(stage)
                    .putLong(stepsDone).flip());
            return sum;
        }
    }

    private DirectBuffer buffer;
    private int start;
    private int length;

    /** Writes a header. */
    static void write(MutableDirectBuffer buffer, int at, Part part, Subject subject, long total, long offset,
            int checksum) {
        buffer.setMemory(at, HEADER_BYTES, (byte) 0);
        buffer.putInt(at + MAGIC_AT, MAGIC, ORDER);
        buffer.putShort(at + VERSION_AT, VERSION, ORDER);
        buffer.putByte(at + PART_AT, (byte) part.ordinal());
        buffer.putInt(at + FROM_AT, subject.fromNode(), ORDER);
        buffer.putInt(at + RANK_AT, subject.rank(), ORDER);
        buffer.putInt(at + STAGE_AT, subject.stage(), ORDER);
        buffer.putInt(at + CHECKSUM_AT, checksum, ORDER);
        buffer.putLong(at + STEPS_AT, subject.stepsDone(), ORDER);
        buffer.putLong(at + TOTAL_AT, total, ORDER);
        buffer.putLong(at + OFFSET_AT, offset, ORDER);
    }

    /** Returns the memory after a frame's header, valid as long as the frame. */
    static ByteBuffer payload(DirectBuffer buffer, int at, int bytes) {
        int start = buffer.wrapAdjustment() + at + HEADER_BYTES;
        return buffer.byteBuffer().duplicate().limit(start + bytes).position(start);
    }

    /** Reads a frame from any bytes; returns false where they are no frame. */
    boolean wrap(DirectBuffer bytes, int at, int frameLength) {
        buffer = bytes;
        start = at;
        length = frameLength;
        return frameLength >= HEADER_BYTES && bytes.getInt(at + MAGIC_AT, ORDER) == MAGIC
                && bytes.getShort(at + VERSION_AT, ORDER) == VERSION && bytes.getByte(at + PART_AT) >= 0
                && bytes.getByte(at + PART_AT) < PARTS.length && fromNode() >= 0 && rank() >= 0 && stage() >= 0
                && stepsDone() >= 0 && offset() >= 0 && offset() <= total() - payloadBytes();
    }

    Part part() {
        return PARTS[buffer.getByte(start + PART_AT)];
    }

    private int fromNode() {
        return buffer.getInt(start + FROM_AT, ORDER);
    }

    private int rank() {
        return buffer.getInt(start + RANK_AT, ORDER);
    }

    private int stage() {
        return buffer.getInt(start + STAGE_AT, ORDER);
    }

    private long stepsDone() {
        return buffer.getLong(start + STEPS_AT, ORDER);
    }

    Subject subject() {
        return new Subject(fromNode(), rank(), stage(), stepsDone());
    }

    boolean isOf(Subject subject) {
        return subject.fromNode() == fromNode() && subject.rank() == rank() && subject.stage() == stage()
                && subject.stepsDone() == stepsDone();
    }

    /** The bytes of the whole of which this frame has a part. */
    long total() {
        return buffer.getLong(start + TOTAL_AT, ORDER);
    }

    /** The first byte of the part in the whole. */
    long offset() {
        return buffer.getLong(start + OFFSET_AT, ORDER);
    }

    /** The CRC32C over the subject and all parts so far, with this frame's part. */
    int checksum() {
        return buffer.getInt(start + CHECKSUM_AT, ORDER);
    }

    int payloadBytes() {
        return length - HEADER_BYTES;
    }

    /** The payload, valid as long as the frame. */
    ByteBuffer payload() {
        return payload(buffer, start, payloadBytes());
    }

    MemorySegment payloadSegment() {
        return MemorySegment.ofBuffer(payload());
    }
}
