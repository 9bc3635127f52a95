package dev.troupe.collective;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Native memory that is used again and again, and grows to the most that was asked of it. One thread. */
final class HostBuffer {
    private static final long ALIGNMENT = 64;

    private MemorySegment memory = MemorySegment.NULL;
    private MemorySegment lastAskedFor = MemorySegment.NULL;

    /** The first bytes, with any content; what was returned before is no longer to be used. */
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
