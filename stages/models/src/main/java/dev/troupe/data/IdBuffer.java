package dev.troupe.data;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** A growing buffer of four-byte ids outside the heap, larger than an array can be. */
final class IdBuffer implements IdSink {
    private static final ValueLayout.OfInt FOUR_BYTES = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long FIRST_BYTES = 1 << 16;

    private MemorySegment memory = Arena.ofAuto().allocate(FIRST_BYTES);
    private long count;

    @Override
    public void append(int[] ids) {
        append(ids, ids.length);
    }

    @Override
    public void append(int[] ids, int idCount) {
        long needed = (count + idCount) * Integer.BYTES;
        if (needed > memory.byteSize()) {
            // A separate arena, so that the old memory is freed when nothing refers to it.
            MemorySegment larger = Arena.ofAuto().allocate(Math.max(needed, 2 * memory.byteSize()));
            MemorySegment.copy(memory, 0, larger, 0, count * Integer.BYTES);
            memory = larger;
        }
        for (int i = 0; i < idCount; i++) {
            memory.setAtIndex(FOUR_BYTES, count++, ids[i]);
        }
    }

    /** Returns all ids so far. */
    MemorySegment segment() {
        return memory.asSlice(0, count * Integer.BYTES).asReadOnly();
    }
}
