package dev.troupe.collective.aeron;

import dev.troupe.collective.Call;
import dev.troupe.wire.WireHeader;
import dev.troupe.wire.sbe.SegmentEncoder;
import org.agrona.MutableDirectBuffer;

/** Writes the headers of frames between members. One thread at a time. */
final class SegmentWriter {
    private final WireHeader header = new WireHeader();
    private final SegmentEncoder segment = new SegmentEncoder();

    /** Writes a header, {@link SegmentFrame#HEADER_BYTES} bytes. */
    void write(MutableDirectBuffer buffer, int at, SegmentFrame.Kind kind, int epoch, long sequence, Call call,
            int root,
            long offset, int to) {
        header.write(buffer, at, SegmentEncoder.TEMPLATE_ID, SegmentEncoder.BLOCK_LENGTH);
        segment.wrap(buffer, at + WireHeader.BYTES).sequence(sequence).callBytes(call.bytes()).partOffset(offset)
                .epoch(epoch).root(root).to(to).kind((short) kind.ordinal())
                .collective((short) call.collective().code())
                .dataType((short) (call.type() == null ? 0 : call.type().code()))
                .reduction((short) (call.reduction() == null ? 0 : call.reduction().code()));
    }
}
