package dev.troupe.offload;

import java.lang.foreign.MemorySegment;

/**
 * Room in a store. Thread rule: one thread at a time.
 *
 * <p>A write always succeeds: a store that can take no more keeps the values elsewhere. A read that fails raises
 * {@link java.io.UncheckedIOException}, and the rank restarts.
 */
public interface StateRegion extends AutoCloseable {
    /** The room of {@link StateStore#NOTHING}. */
    StateRegion NOTHING = new StateRegion() {
        @Override
        public void read(long byteOffset, MemorySegment target) {
        }

        @Override
        public void write(long byteOffset, MemorySegment source) {
        }

        @Override
        public void close() {
        }
    };

    /** Fills native memory with the bytes from an offset on. */
    void read(long byteOffset, MemorySegment target);

    /** Stores all bytes of native memory from an offset on. */
    void write(long byteOffset, MemorySegment source);

    @Override
    void close();
}
