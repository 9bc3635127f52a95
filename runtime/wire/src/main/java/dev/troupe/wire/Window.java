package dev.troupe.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;

/**
 * A view of a part of an Agrona buffer through the JDK's types: its CRC32C, and a memory segment for an engine. One
 * thread at a time.
 *
 * <p>The duplicate of the underlying byte buffer is kept, since the buffers of a stream are the same three for its
 * whole life; only the segment handed to the engine is a fresh (small) object.
 */
public final class Window {
    private final CRC32C crc = new CRC32C();
    private ByteBuffer owner;
    private ByteBuffer view;

    /** The CRC32C of these bytes. The buffer must wrap a {@link ByteBuffer}, as Aeron's buffers do. */
    public int checksum(DirectBuffer buffer, int offset, int length) {
        point(buffer, offset, length);
        crc.reset();
        crc.update(view);
        return (int) crc.getValue();
    }

    /** These bytes as a segment of exactly their length, valid as long as the buffer's memory is. */
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
