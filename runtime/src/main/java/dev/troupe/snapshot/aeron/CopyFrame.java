package dev.troupe.snapshot.aeron;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A frame of a copy: what copy it is of, and a part of it. First comes the layout, then the bytes, in order, each frame with
 * the CRC32C of all so far; or a shared snapshot instead of both. One thread at a time.
 */
final class CopyFrame {
    /** Bytes in front of the payload; a line of the cache. */
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

    /** What of a copy a frame has. */
    enum Part {
        /** Of what lies where; the total is that of the layout. */
        LAYOUT,
        /** Of the snapshot; the total is that of the snapshot. */
        BYTES,
        /** Where its memory is, a {@link SharedSnapshotNote}; that is all that there is of it. */
        SHARED,
        /** Nothing: who cannot have that memory asks for the bytes. */
        DECLINED
    }

    /** What a copy is of, and whose it is. */
    record Subject(int fromNode, int rank, int stage, long stepsDone) {
        /** A sum that covers the subject, and is to cover what else is sent of it. */
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

    /** The memory behind a frame's header, as long as the frame is there. */
    static ByteBuffer payload(DirectBuffer buffer, int at, int bytes) {
        int start = buffer.wrapAdjustment() + at + HEADER_BYTES;
        return buffer.byteBuffer().duplicate().limit(start + bytes).position(start);
    }

    /** Looks at a frame of any bytes whatever; false where it is none. */
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

    /** Bytes of the whole that this frame has a part of. */
    long total() {
        return buffer.getLong(start + TOTAL_AT, ORDER);
    }

    /** Where in it the part begins. */
    long offset() {
        return buffer.getLong(start + OFFSET_AT, ORDER);
    }

    /** The CRC32C over the subject and what has come so far, this frame's part too. */
    int checksum() {
        return buffer.getInt(start + CHECKSUM_AT, ORDER);
    }

    int payloadBytes() {
        return length - HEADER_BYTES;
    }

    /** Until the frame goes. */
    ByteBuffer payload() {
        return payload(buffer, start, payloadBytes());
    }

    MemorySegment payloadSegment() {
        return MemorySegment.ofBuffer(payload());
    }
}
