package dev.troupe.transport.frame;

import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.wire.RingPositions;
import dev.troupe.wire.Window;
import dev.troupe.wire.WireHeader;
import dev.troupe.wire.sbe.CreditEncoder;
import dev.troupe.wire.sbe.FragmentEncoder;
import dev.troupe.wire.sbe.FrameHeaderEncoder;
import org.agrona.MutableDirectBuffer;

/**
 * The writer of frames into buffers; the schema is {@code frames.sbe.xml}. The checksum covers the header, and a payload
 * that leaves the machine. A payload within the machine stays in memory, as safe as a tensor. One thread at a time.
 */
public final class FrameWriter {
    /** The first byte under the checksum: after the magic, which is compared, and the checksum itself. */
    public static final int CHECKSUM_START = 8;
    /** Bytes before a fragment's payload. */
    public static final int FRAGMENT_HEADER_BYTES = WireHeader.BYTES + FragmentEncoder.BLOCK_LENGTH;
    public static final int CREDIT_BYTES = WireHeader.BYTES + CreditEncoder.BLOCK_LENGTH;
    /** The most dimensions of a tensor in the header. */
    public static final int MAX_TENSOR_RANK = FragmentEncoder.sizesLength();
    /** The unit of all fragments but the last, in bytes, so that no element is split and copies stay aligned. */
    public static final int PAYLOAD_UNIT = RingPositions.UNIT_BYTES;

    private final boolean checksPayload;
    private final WireHeader header = new WireHeader();
    private final FragmentEncoder fragment = new FragmentEncoder();
    private final CreditEncoder credit = new CreditEncoder();
    private final Window window = new Window();

    /** Creates a writer for a stream with or without checks of payloads; see {@link Frame}. */
    public FrameWriter(boolean checksPayload) {
        this.checksPayload = checksPayload;
    }

    /**
     * Writes the header of a fragment, {@link #FRAGMENT_HEADER_BYTES} bytes. If payloads are checked, the payload must
     * already follow it.
     */
    public void fragment(MutableDirectBuffer buffer, int offset, MessageId id, int number, Tensor tensor,
            long tensorOffset,
            int length) {
        write(buffer, offset, id, number, tensor, tensorOffset, length);
        seal(buffer, offset, FRAGMENT_HEADER_BYTES + (checksPayload ? length : 0), FragmentEncoder.BLOCK_LENGTH,
                FragmentEncoder.TEMPLATE_ID);
    }

    private void write(MutableDirectBuffer buffer, int offset, MessageId id, int number, Tensor tensor,
            long tensorOffset,
            int length) {
        buffer.setMemory(offset, FRAGMENT_HEADER_BYTES, (byte) 0);
        Edge edge = id.edge();
        Shape shape = tensor.shape();
        fragment.wrap(buffer, offset + WireHeader.BYTES).pass(id.pass()).byteCount(tensor.byteCount())
                .fragmentOffset(tensorOffset).fragmentLength(length).epoch(id.epoch()).fromRank(edge.fromRank())
                .toRank(edge.toRank()).stage(edge.stage()).microbatch(id.microbatch()).number(number)
                .kind((short) edge.kind().code()).dataType((short) tensor.dataType().code())
                .tensorRank((short) shape.rank());
        for (int dimension = 0; dimension < shape.rank(); dimension++) {
            fragment.sizes(dimension, shape.size(dimension));
        }
    }

    /** Flips a bit of a written frame's checksum. */
    public void damage(MutableDirectBuffer buffer, int offset) {
        int checksum = offset + FrameHeaderEncoder.checksumEncodingOffset();
        buffer.putByte(checksum, (byte) (buffer.getByte(checksum) ^ 1));
    }

    /** Writes one credit frame, {@link #CREDIT_BYTES} bytes. */
    public void credit(MutableDirectBuffer buffer, int offset, int epoch, Edge edge, int count) {
        buffer.setMemory(offset, CREDIT_BYTES, (byte) 0);
        credit.wrap(buffer, offset + WireHeader.BYTES).epoch(epoch).fromRank(edge.fromRank())
                .toRank(edge.toRank()).stage(edge.stage()).count(count).kind((short) edge.kind().code());
        seal(buffer, offset, CREDIT_BYTES, CreditEncoder.BLOCK_LENGTH, CreditEncoder.TEMPLATE_ID);
    }

    private void seal(MutableDirectBuffer buffer, int offset, int checkedLength, int blockLength, int templateId) {
        header.write(buffer, offset, templateId, blockLength);
        header.checksum(window.checksum(buffer, offset + CHECKSUM_START, checkedLength - CHECKSUM_START));
    }
}
