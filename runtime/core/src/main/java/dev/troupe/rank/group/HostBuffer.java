package dev.troupe.rank.group;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native memory that is used again and again, and grows to the largest request. One thread. */
final class HostBuffer {
    private static final long ALIGNMENT = 64;

    private MemorySegment memory = MemorySegment.NULL;
    private MemorySegment lastAskedFor = MemorySegment.NULL;

    /** Returns the first bytes, with any content; an earlier result must not be used any more. */
    MemorySegment ofBytes(long bytes) {
        if (lastAskedFor.byteSize() != bytes) {
            if (memory.byteSize() < bytes) {
                memory = Arena.ofAuto().allocate(bytes, ALIGNMENT);
            }
            lastAskedFor = memory.asSlice(0, bytes);
        }
        return lastAskedFor;
    }
}
