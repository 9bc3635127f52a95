package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import dev.troupe.collective.Collective;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The header of a frame between members, in front of its payload. All members of a group run the same version on
 * machines of one order of bytes, so it has no version of its own. One thread at a time.
 */
final class SegmentFrame {
    /**
     * Bytes of the header; a multiple of a line of the cache, so that payloads are aligned. The last ones are free for a
     * connection's checksum.
     */
    static final int HEADER_BYTES = 64;
    /** The receiver of a frame for all members. */
    static final int FOR_ALL = -1;

    private static final int MAGIC = 0x43505254;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
    private static final int MAGIC_AT = 0;
    private static final int EPOCH_AT = 4;
    private static final int SEQUENCE_AT = 8;
    private static final int KIND_AT = 16;
    private static final int COLLECTIVE_AT = 17;
    private static final int TYPE_AT = 18;
    private static final int REDUCTION_AT = 19;
    private static final int ROOT_AT = 20;
    private static final int BYTES_AT = 24;
    private static final int OFFSET_AT = 32;
    private static final int TO_AT = 40;

    private static final Kind[] KINDS = Kind.values();
    private static final Reduction[] REDUCTIONS = Reduction.values();
    private static final Collective[] COLLECTIVES = Collective.values();

    private final Call call = new Call();
    private DirectBuffer buffer;
    private int start;
    private int length;

    /** The kinds of frames. */
    enum Kind {
        /** A member has joined; the offset of the frame is the set of members that it has heard. */
        JOIN,
        /** A member has called a collective; the frame has the call. */
        CALL,
        /** A part of a member's own values, to be reduced. */
        PART,
        /** A part of the final values. */
        RESULT,
        /** A member has ended the group: the payload says why, and the root is the member at fault, or {@link #FOR_ALL}. */
        END
    }

    /** Writes a header. */
    static void write(MutableDirectBuffer buffer, int at, Kind kind, int epoch, long sequence, Call call, int root,
            long offset, int to) {
        buffer.putInt(at + MAGIC_AT, MAGIC, ORDER);
        buffer.putInt(at + EPOCH_AT, epoch, ORDER);
        buffer.putLong(at + SEQUENCE_AT, sequence, ORDER);
        buffer.putByte(at + KIND_AT, (byte) kind.ordinal());
        buffer.putByte(at + COLLECTIVE_AT, (byte) call.collective().code());
        buffer.putByte(at + TYPE_AT, (byte) (call.type() == null ? 0 : call.type().code()));
        buffer.putByte(at + REDUCTION_AT, (byte) (call.reduction() == null ? 0 : call.reduction().code()));
        buffer.putInt(at + ROOT_AT, root, ORDER);
        buffer.putLong(at + BYTES_AT, call.bytes(), ORDER);
        buffer.putLong(at + OFFSET_AT, offset, ORDER);
        buffer.putInt(at + TO_AT, to, ORDER);
    }

    /** Reads a frame; returns false where the bytes are no frame. */
    boolean wrap(DirectBuffer bytes, int at, int frameLength) {
        buffer = bytes;
        start = at;
        length = frameLength;
        return frameLength >= HEADER_BYTES && bytes.getInt(at + MAGIC_AT, ORDER) == MAGIC
                && bytes.getByte(at + KIND_AT) >= 0 && bytes.getByte(at + KIND_AT) < KINDS.length;
    }

    Kind kind() {
        return KINDS[buffer.getByte(start + KIND_AT)];
    }

    int epoch() {
        return buffer.getInt(start + EPOCH_AT, ORDER);
    }

    long sequence() {
        return buffer.getLong(start + SEQUENCE_AT, ORDER);
    }

    int root() {
        return buffer.getInt(start + ROOT_AT, ORDER);
    }

    long offset() {
        return buffer.getLong(start + OFFSET_AT, ORDER);
    }

    boolean isFor(int member) {
        int to = buffer.getInt(start + TO_AT, ORDER);
        return to == FOR_ALL || to == member;
    }

    int payloadAt() {
        return start + HEADER_BYTES;
    }

    int payloadBytes() {
        return length - HEADER_BYTES;
    }

    String payloadText() {
        return buffer.getStringWithoutLengthUtf8(payloadAt(), payloadBytes());
    }

    /** Returns the call of the sender, valid until the next frame. */
    Call call() {
        long bytes = buffer.getLong(start + BYTES_AT, ORDER);
        switch (collective(buffer.getByte(start + COLLECTIVE_AT))) {
            case ALL_REDUCE -> call.reduce(Collective.ALL_REDUCE, type(), reduction(), bytes);
            case REDUCE_SCATTER -> call.reduce(Collective.REDUCE_SCATTER, type(), reduction(), bytes);
            case ALL_GATHER -> call.allGather(bytes);
            case BROADCAST -> call.broadcast(bytes, root());
            case BARRIER -> call.barrier();
            case EXCHANGE ->
                throw new IllegalStateException("a frame has an exchange, which does not leave its process");
        }
        return call;
    }

    private static Collective collective(int code) {
        for (Collective collective : COLLECTIVES) {
            if (collective.code() == code) {
                return collective;
            }
        }
        throw new IllegalStateException("a frame names a collective of code " + code + ", which there is not");
    }

    private DataType type() {
        int code = buffer.getByte(start + TYPE_AT);
        for (DataType type : DataType.values()) {
            if (type.code() == code) {
                return type;
            }
        }
        throw new IllegalStateException("a frame names a type of code " + code + ", which there is not");
    }

    private Reduction reduction() {
        int code = buffer.getByte(start + REDUCTION_AT);
        for (Reduction reduction : REDUCTIONS) {
            if (reduction.code() == code) {
                return reduction;
            }
        }
        throw new IllegalStateException("a frame names a reduction of code " + code + ", which there is not");
    }
}
