package dev.troupe.rank.group;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native memory that is reused, and grows to the largest request. Thread rule: one thread. */
final class HostBuffer {
    private static final long ALIGNMENT = 64;

    private MemorySegment memory = MemorySegment.NULL;
    private MemorySegment lastAskedFor = MemorySegment.NULL;

    /** Returns the first bytes, with arbitrary content; it invalidates the earlier result. */
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
