package dev.troupe.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;

/**
 * A view of a part of an Agrona buffer through the JDK's types, for a CRC32C or an engine. One thread at a time.
 *
 * <p>The duplicate of the byte buffer is cached, since a stream uses the same three buffers for its whole life.
 */
public final class Window {
    private final CRC32C crc = new CRC32C();
    private ByteBuffer owner;
    private ByteBuffer view;

    /** Returns the CRC32C of these bytes. The buffer must wrap a {@link ByteBuffer}, as Aeron's buffers do. */
    public int checksum(DirectBuffer buffer, int offset, int length) {
        point(buffer, offset, length);
        crc.reset();
        crc.update(view);
        return (int) crc.getValue();
    }

    /** Returns these bytes as a segment, valid as long as the buffer's memory. */
    public MemorySegment segment(DirectBuffer buffer, int offset, int length) {
        point(buffer, offset, length);
        return MemorySegment.ofBuffer(view);
    }

    private void point(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (buffer.byteBuffer() != owner) {
            owner = buffer.byteBuffer();
            view = owner.duplicate();
        }
        int start = buffer.wrapAdjustment() + offset;
        view.limit(start + length).position(start);
    }
}
