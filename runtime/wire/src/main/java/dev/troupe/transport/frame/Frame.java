package dev.troupe.transport.frame;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.wire.Ring;
import dev.troupe.wire.RingPositions;
import dev.troupe.wire.Window;
import dev.troupe.wire.WireHeader;
import dev.troupe.wire.sbe.CreditDecoder;
import dev.troupe.wire.sbe.FragmentDecoder;
import java.lang.foreign.MemorySegment;
import org.agrona.DirectBuffer;

/**
 * A received frame, read and checked; one object is reused for all frames. Its getters are valid after {@link #read} has
 * returned null, and the payload as long as the buffer. One thread at a time.
 */
public final class Frame {
    /** More buffers than any run grants on one edge; the limit keeps sums of credits from overflowing. */
    public static final int MAX_CREDITS = 1 << 20;

    private static final MessageKind[] KINDS = byCode(MessageKind.values());
    private static final DataType[] DATA_TYPES = byCode(DataType.values());

    /** The value of {@code payloadBytes} for a payload within its frame. */
    private static final int IN_FRAME = -1;

    private final boolean checksPayload;
    private final WireHeader header = new WireHeader();
    private final FragmentDecoder fragment = new FragmentDecoder();
    private final CreditDecoder credit = new CreditDecoder();
    private final Window window = new Window();
    private final int[] sizes = new int[FrameWriter.MAX_TENSOR_RANK];
    private DirectBuffer buffer;
    // Null if the payload is not in a ring of this process's memory.
    private Ring ring;
    // Null if the payload is in no ring.
    private RingPositions positions;
    private long ringEnd;
    private int payloadStart;
    // Bytes of a payload that follows its header, or IN_FRAME.
    private int payloadBytes;
    private boolean isCredit;
    private int epoch;
    private int fromRank;
    private int toRank;
    private int stage;
    private MessageKind kind;
    private int count;
    private long pass;
    private int microbatch;
    private int number;
    private DataType dataType;
    private int tensorRank;
    private long byteCount;
    private long fragmentOffset;
    private int fragmentLength;

    /** Creates a frame for streams with or without payloads in the checksum. */
    public Frame(boolean checksPayload) {
        this.checksPayload = checksPayload;
    }

    private static MessageKind[] byCode(MessageKind[] kinds) {
        MessageKind[] table = new MessageKind[256];
        for (MessageKind kind : kinds) {
            table[kind.code()] = kind;
        }
        return table;
    }

    private static DataType[] byCode(DataType[] types) {
        DataType[] table = new DataType[256];
        for (DataType type : types) {
            table[type.code()] = type;
        }
        return table;
    }

    /**
     * Reads a frame from any bytes.
     *
     * @return null if a sender of this version may write these bytes; otherwise the reason to drop them
     */
    public DropReason read(DirectBuffer bytes, int offset, int length) {
        return read(bytes, offset, length, null, 0);
    }

    /**
     * Reads a frame of a stream with payloads in a ring, as {@link #read(DirectBuffer, int, int)}.
     *
     * @param through the ring, or null if payloads are in their frames
     * @param end the position after the payload, which is checked too
     */
    public DropReason read(DirectBuffer bytes, int offset, int length, Ring through, long end) {
        ring = through;
        positions = through == null ? null : through.positions();
        ringEnd = end;
        payloadBytes = IN_FRAME;
        return readWhole(bytes, offset, length);
    }

    /**
     * Reads a header with its payload in a ring elsewhere, as {@link #read(DirectBuffer, int, int)}.
     *
     * @param of the positions of the ring
     * @param end the position after the payload, which is checked too
     */
    public DropReason readHeader(DirectBuffer bytes, int offset, int length, RingPositions of, long end) {
        ring = null;
        positions = of;
        ringEnd = end;
        payloadBytes = IN_FRAME;
        return readWhole(bytes, offset, length);
    }

    /**
     * Reads a header alone, as {@link #read(DirectBuffer, int, int)}; its payload follows elsewhere.
     *
     * @param following bytes of the payload, 0 if there is none
     */
    public DropReason readHeader(DirectBuffer bytes, int offset, int length, int following) {
        ring = null;
        positions = null;
        payloadBytes = following;
        return readWhole(bytes, offset, length);
    }

    private DropReason readWhole(DirectBuffer bytes, int offset, int length) {
        if (length < WireHeader.BYTES) {
            return DropReason.BAD_LENGTH;
        }
        header.read(bytes, offset);
        if (!header.isFrame()) {
            return DropReason.BAD_MAGIC;
        }
        if (!header.isOfVersion()) {
            return DropReason.BAD_VERSION;
        }
        // Compared before any field is read, so that this check finds a flipped bit in a field.
        int covered = checksPayload ? length : Math.min(length, FrameWriter.FRAGMENT_HEADER_BYTES);
        if (header.checksum() != window.checksum(bytes, offset + FrameWriter.CHECKSUM_START,
                covered - FrameWriter.CHECKSUM_START)) {
            return DropReason.BAD_CHECKSUM;
        }
        buffer = bytes;
        int blockStart = offset + WireHeader.BYTES;
        if (header.isOf(FragmentDecoder.TEMPLATE_ID, FragmentDecoder.BLOCK_LENGTH)) {
            return readFragment(blockStart, length);
        }
        if (header.isOf(CreditDecoder.TEMPLATE_ID, CreditDecoder.BLOCK_LENGTH)) {
            return readCredit(blockStart, length);
        }
        return DropReason.BAD_VERSION;
    }

    /**
     * Returns whether a frame with a wrong checksum may belong to an awaited message. Its fields are not trusted, but a
     * claim of an earlier epoch is believed: the last frames of a damaged message that was given up have one.
     */
    public boolean mayBeOfMessage(DirectBuffer bytes, int offset, int length, int presentEpoch) {
        return length >= FrameWriter.FRAGMENT_HEADER_BYTES && fragment.wrap(bytes,
                offset + WireHeader.BYTES, FragmentDecoder.BLOCK_LENGTH,
                FragmentDecoder.SCHEMA_VERSION).epoch() >= presentEpoch;
    }

    private DropReason readCredit(int blockStart, int length) {
        if (length != FrameWriter.CREDIT_BYTES) {
            return DropReason.BAD_LENGTH;
        }
        credit.wrap(buffer, blockStart, CreditDecoder.BLOCK_LENGTH, CreditDecoder.SCHEMA_VERSION);
        isCredit = true;
        count = credit.count();
        boolean good = readEdge(credit.epoch(), credit.fromRank(), credit.toRank(), credit.stage(), credit.kind());
        return good && count >= 1 && count <= MAX_CREDITS ? null : DropReason.BAD_FIELD;
    }

    private DropReason readFragment(int blockStart, int length) {
        if (length < FrameWriter.FRAGMENT_HEADER_BYTES) {
            return DropReason.BAD_LENGTH;
        }
        fragment.wrap(buffer, blockStart, FragmentDecoder.BLOCK_LENGTH, FragmentDecoder.SCHEMA_VERSION);
        isCredit = false;
        payloadStart = blockStart + FragmentDecoder.BLOCK_LENGTH;
        fragmentLength = fragment.fragmentLength();
        boolean isInFrame = positions == null && payloadBytes == IN_FRAME;
        if (isInFrame
                ? fragmentLength != length - FrameWriter.FRAGMENT_HEADER_BYTES
                : length != FrameWriter.FRAGMENT_HEADER_BYTES || fragmentLength < 1
                        || !(positions == null
                                ? fragmentLength == payloadBytes
                                : positions.holds(ringEnd, fragmentLength))) {
            return DropReason.BAD_LENGTH;
        }
        pass = fragment.pass();
        microbatch = fragment.microbatch();
        number = fragment.number();
        byteCount = fragment.byteCount();
        fragmentOffset = fragment.fragmentOffset();
        dataType = DATA_TYPES[fragment.dataType()];
        tensorRank = fragment.tensorRank();
        boolean good = readEdge(fragment.epoch(), fragment.fromRank(), fragment.toRank(), fragment.stage(),
                fragment.kind()) && pass >= 0 && microbatch >= 0 && dataType != null && readSizes() && isInMessage();
        return good ? null : DropReason.BAD_FIELD;
    }

    private boolean readEdge(int epochField, int from, int to, int stageField, int kindCode) {
        epoch = epochField;
        fromRank = from;
        toRank = to;
        stage = stageField;
        kind = KINDS[kindCode];
        return epoch >= 0 && isIndex(from) && isIndex(to) && isIndex(stage) && kind != null;
    }

    private static boolean isIndex(int value) {
        return value >= 0 && value <= Edge.MAX_INDEX;
    }

    /** Returns whether the sizes are a shape with the bytes of the message. */
    private boolean readSizes() {
        if (tensorRank > FrameWriter.MAX_TENSOR_RANK) {
            return false;
        }
        long bytes = dataType.elementBytes();
        for (int dimension = 0; dimension < FrameWriter.MAX_TENSOR_RANK; dimension++) {
            int size = fragment.sizes(dimension);
            sizes[dimension] = size;
            if (dimension >= tensorRank) {
                if (size != 0) {
                    return false;
                }
            } else if (size < 1 || bytes > Long.MAX_VALUE / size) {
                return false;
            } else {
                bytes *= size;
            }
        }
        return bytes == byteCount;
    }

    private boolean isInMessage() {
        int elementBytes = dataType.elementBytes();
        return fragmentLength >= 1 && fragmentOffset >= 0 && fragmentOffset <= byteCount - fragmentLength
                && fragmentOffset % elementBytes == 0 && fragmentLength % elementBytes == 0;
    }

    public boolean isCredit() {
        return isCredit;
    }

    public int epoch() {
        return epoch;
    }

    public int fromRank() {
        return fromRank;
    }

    public int toRank() {
        return toRank;
    }

    /** Returns the number of granted buffers of a credit frame. */
    public int count() {
        return count;
    }

    public long pass() {
        return pass;
    }

    public int microbatch() {
        return microbatch;
    }

    /** Returns the number of the message in its edge and epoch; it wraps around. */
    public int number() {
        return number;
    }

    public long byteCount() {
        return byteCount;
    }

    public long fragmentOffset() {
        return fragmentOffset;
    }

    public int fragmentLength() {
        return fragmentLength;
    }

    public long edgeKey() {
        return Edge.key(fromRank, toRank, stage, kind);
    }

    public Edge edge() {
        return new Edge(fromRank, toRank, stage, kind);
    }

    public MessageId id() {
        return new MessageId(epoch, pass, edge(), microbatch);
    }

    /** Returns the payload of a fragment, read-only by convention. */
    public MemorySegment payload() {
        return ring == null
                ? window.segment(buffer, payloadStart, fragmentLength)
                : ring.payload(ringEnd, fragmentLength);
    }

    /** Returns the first size of the message's shape. */
    public int rows() {
        return sizes[0];
    }

    /**
     * Returns whether a buffer fits the message: type and shape are equal, except that the message may have fewer rows.
     *
     * @param rows the rows announced by the first fragment of the message
     */
    public boolean fits(DataType type, Shape shape, int rows) {
        if (type != dataType || tensorRank == 0 || shape.rank() != tensorRank || rows != sizes[0]
                || rows > shape.size(0)) {
            return false;
        }
        for (int dimension = 1; dimension < tensorRank; dimension++) {
            if (shape.size(dimension) != sizes[dimension]) {
                return false;
            }
        }
        return true;
    }

    /** Returns type and shape as text. */
    public String layout() {
        StringBuilder text = new StringBuilder().append(dataType).append(" [");
        for (int dimension = 0; dimension < tensorRank; dimension++) {
            text.append(dimension == 0 ? "" : " x ").append(sizes[dimension]);
        }
        return text.append(']').toString();
    }
}
