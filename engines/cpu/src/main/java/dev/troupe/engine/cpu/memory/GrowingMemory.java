package dev.troupe.engine.cpu.memory;

import dev.troupe.engine.cpu.loop.Lanes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Scratch memory of kernels, a part for each thread of a pool. It grows to the largest need, and keeps that size.
 *
 * <p>Closing twice has no effect. Thread rule: {@link #require} on the thread that calls kernels; {@link #of} on any of the
 * pool.
 */
public final class GrowingMemory implements AutoCloseable {
    private final int threads;
    private Arena arena = Arena.ofShared();
    private MemorySegment memory = MemorySegment.NULL;
    private long bytes;

    public GrowingMemory(int threads) {
        this.threads = threads;
    }

    /** Called before a kernel that needs {@code needed} bytes on each thread. */
    public void require(long needed) {
        if (needed > bytes) {
            bytes = Math.ceilDiv(needed, Lanes.ALIGNMENT) * Lanes.ALIGNMENT;
            arena.close();
            arena = Arena.ofShared();
            memory = arena.allocate(bytes * threads, Lanes.ALIGNMENT);
        }
    }

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
