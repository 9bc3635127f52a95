package dev.troupe.engine.cpu.memory;

import dev.troupe.engine.cpu.loop.Lanes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory that a kernel needs while it runs, a part for each thread of a pool. It grows to what was needed most, and stays.
 *
 * <p>Closing twice has no effect. Thread rule: {@link #require} by the caller of kernels; {@link #of} by any of the pool.
 */
public final class GrowingMemory implements AutoCloseable {
    private final int threads;
    private Arena arena = Arena.ofShared();
    private MemorySegment memory = MemorySegment.NULL;
    private long bytes;

    public GrowingMemory(int threads) {
        this.threads = threads;
    }

    /** Before a kernel: each thread will need {@code needed} bytes. */
    public void require(long needed) {
        if (needed > bytes) {
            bytes = Math.ceilDiv(needed, Lanes.ALIGNMENT) * Lanes.ALIGNMENT;
            arena.close();
            arena = Arena.ofShared();
            memory = arena.allocate(bytes * threads, Lanes.ALIGNMENT);
        }
    }

    /** Where the part of a member of the pool begins. */
    public long of(int member) {
        return memory.address() + bytes * member;
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
