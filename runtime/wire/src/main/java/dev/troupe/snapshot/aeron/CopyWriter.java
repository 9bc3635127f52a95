package dev.troupe.snapshot.aeron;

import dev.troupe.wire.WireHeader;
import dev.troupe.wire.sbe.CopyEncoder;
import org.agrona.MutableDirectBuffer;

/** Writes the headers of frames of copies. One thread at a time. */
final class CopyWriter {
    private final WireHeader header = new WireHeader();
    private final CopyEncoder copy = new CopyEncoder();

    /** Writes a header, {@link CopyFrame#HEADER_BYTES} bytes. */
    void write(MutableDirectBuffer buffer, int at, CopyFrame.Part part, CopyFrame.Subject subject, long total,
            long offset, int checksum) {
        buffer.setMemory(at, CopyFrame.HEADER_BYTES, (byte) 0);
        header.write(buffer, at, CopyEncoder.TEMPLATE_ID, CopyEncoder.BLOCK_LENGTH);
        copy.wrap(buffer, at + WireHeader.BYTES).stepsDone(subject.stepsDone()).total(total).partOffset(offset)
                .fromNode(subject.fromNode()).rank(subject.rank()).stage(subject.stage())
                .sum(Integer.toUnsignedLong(checksum)).part((short) part.ordinal());
    }
}
