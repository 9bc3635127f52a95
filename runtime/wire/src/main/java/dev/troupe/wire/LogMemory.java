package dev.troupe.wire;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;

/** The memory of a stream as a cached segment: the buffers of a stream stay in one mapping. One thread at a time. */
public final class LogMemory {
    private ByteBuffer mapping;
    private MemorySegment segment = MemorySegment.NULL;

    /** Returns the mapping that holds a buffer of the stream. */
    public MemorySegment of(DirectBuffer buffer) {
        if (buffer.byteBuffer() != mapping) {
            mapping = buffer.byteBuffer();
            segment = MemorySegment.ofBuffer(mapping.duplicate().clear());
        }
        return segment;
    }

    /** Returns the position of byte {@code index} of a buffer in its mapping. */
    public static long position(DirectBuffer buffer, int index) {
        return (long) buffer.wrapAdjustment() + index;
    }
}
