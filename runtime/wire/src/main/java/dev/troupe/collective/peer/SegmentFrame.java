package dev.troupe.collective.peer;

import dev.troupe.collective.Call;
import dev.troupe.collective.Collective;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import dev.troupe.wire.WireHeader;
import dev.troupe.wire.sbe.SegmentDecoder;
import dev.troupe.wire.sbe.SegmentEncoder;
import java.util.function.ToIntFunction;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** A frame between members: a header followed by its payload. One thread at a time. */
final class SegmentFrame {
    /**
     * Bytes of the header, a multiple of a cache line so that payloads are aligned. The last ones are free for a
     * connection's checksum.
     */
    static final int HEADER_BYTES = WireHeader.BYTES + SegmentDecoder.BLOCK_LENGTH;
    /** The receiver code of a frame for all members. */
    static final int FOR_ALL = -1;

    private static final Kind[] KINDS = Kind.values();
    private static final DataType[] TYPES = DataType.values();
    private static final Reduction[] REDUCTIONS = Reduction.values();
    private static final Collective[] COLLECTIVES = Collective.values();

    private final WireHeader header = new WireHeader();
    private final SegmentDecoder segment = new SegmentDecoder();
    private final SegmentEncoder encoder = new SegmentEncoder();
    private final Call call = new Call();
    private DirectBuffer buffer;
    private int start;
    private int length;

    enum Kind {
        /** A member has joined; the offset of the frame is the set of members that have reached it. */
        JOIN,
        /** A member's call of a collective. */
        CALL,
        /** A part of a member's own values, to be reduced. */
        PART,
        /** A part of the results. */
        RESULT,
        /** The end of the group: the payload is the reason, and the root is the member at fault or {@link #FOR_ALL}. */
        END
    }

    /** Writes a header, {@link #HEADER_BYTES} bytes. */
    void write(MutableDirectBuffer target, int at, Kind kind, int epoch, long sequence, Call itsCall, int root,
            long offset, int to) {
        header.write(target, at, SegmentEncoder.TEMPLATE_ID, SegmentEncoder.BLOCK_LENGTH);
        encoder.wrap(target, at + WireHeader.BYTES).sequence(sequence).callBytes(itsCall.bytes()).partOffset(offset)
                .epoch(epoch).root(root).to(to).kind((short) kind.ordinal())
                .collective((short) itsCall.collective().code())
                .dataType((short) (itsCall.type() == null ? 0 : itsCall.type().code()))
                .reduction((short) (itsCall.reduction() == null ? 0 : itsCall.reduction().code()));
    }

    /** Reads a frame; returns false if the bytes are no frame. */
    boolean wrap(DirectBuffer bytes, int at, int frameLength) {
        buffer = bytes;
        start = at;
        length = frameLength;
        if (frameLength < HEADER_BYTES
                || !header.reads(bytes, at, SegmentDecoder.TEMPLATE_ID, SegmentDecoder.BLOCK_LENGTH)) {
            return false;
        }
        segment.wrap(bytes, at + WireHeader.BYTES, SegmentDecoder.BLOCK_LENGTH, SegmentDecoder.SCHEMA_VERSION);
        return segment.kind() < KINDS.length;
    }

    Kind kind() {
        return KINDS[segment.kind()];
    }

    int epoch() {
        return segment.epoch();
    }

    long sequence() {
        return segment.sequence();
    }

    int root() {
        return segment.root();
    }

    long offset() {
        return segment.partOffset();
    }

    boolean isFor(int member) {
        return segment.to() == FOR_ALL || segment.to() == member;
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
        long bytes = segment.callBytes();
        switch (named(COLLECTIVES, Collective::code, segment.collective(), "a collective")) {
            case ALL_REDUCE -> call.reduce(Collective.ALL_REDUCE, type(), reduction(), bytes);
            case REDUCE_SCATTER -> call.reduce(Collective.REDUCE_SCATTER, type(), reduction(), bytes);
            case ALL_GATHER -> call.allGather(bytes);
            case BROADCAST -> call.broadcast(bytes, root());
            case BARRIER -> call.barrier();
            case ALL_TO_ALL -> call.allToAll(bytes, root());
            case EXCHANGE ->
                throw new IllegalStateException("a frame has an exchange, which does not leave its process");
        }
        return call;
    }

    private DataType type() {
        return named(TYPES, DataType::code, segment.dataType(), "a type");
    }

    private Reduction reduction() {
        return named(REDUCTIONS, Reduction::code, segment.reduction(), "a reduction");
    }

    private static <E> E named(E[] all, ToIntFunction<E> codes, int code, String what) {
        for (E one : all) {
            if (codes.applyAsInt(one) == code) {
                return one;
            }
        }
        throw new IllegalStateException("a frame names " + what + " of code " + code + ", which there is not");
    }
}
