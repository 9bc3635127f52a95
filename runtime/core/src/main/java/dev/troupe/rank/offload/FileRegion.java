package dev.troupe.rank.offload;

import dev.troupe.offload.StateRegion;
import dev.troupe.tokenizer.file.FileReason;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** Room in a file until the first failure of a write; then the same room in memory. */
final class FileRegion implements StateRegion {
    /** Bytes of one call to the file: below the largest buffer, which has an int for its size. */
    private static final long MOST_BYTES = 1 << 24;

    private final long byteCount;
    private final Consumer<String> moved;
    private final Arena arena = Arena.ofShared();
    /** Null before {@link #begin}, and once the values are in memory. */
    private StateDisk.File file;
    /** Null while the values are in the file. */
    private MemorySegment memory;

    /** @param moved receives the reason if the values go to memory */
    FileRegion(long byteCount, Consumer<String> moved) {
        this.byteCount = byteCount;
        this.moved = moved;
    }

    /** Fills a new file with zeros, or moves to memory if it cannot take them. */
    void begin(StateDisk.File created) {
        try (Arena temporary = Arena.ofConfined()) {
            MemorySegment zeros = temporary.allocate(Math.min(MOST_BYTES, byteCount));
            for (long offset = 0; offset < byteCount; offset += zeros.byteSize()) {
                writeAll(created, offset, zeros.asSlice(0, Math.min(zeros.byteSize(), byteCount - offset)));
            }
            file = created;
        } catch (IOException failure) {
            close(created);
            moveToMemory(FileReason.of(failure));
        }
    }

    /** Continues in memory, with the values of the file if there is one. */
    void moveToMemory(String why) {
        moved.accept(why);
        MemorySegment values = arena.allocate(byteCount, Long.BYTES);
        if (file != null) {
            read(0, values);
            close(file);
            file = null;
        }
        memory = values;
    }

    @Override
    public void read(long byteOffset, MemorySegment target) {
        if (memory != null) {
            target.copyFrom(memory.asSlice(byteOffset, target.byteSize()));
            return;
        }
        try {
            for (long done = 0; done < target.byteSize(); done += MOST_BYTES) {
                ByteBuffer part = part(target, done);
                while (part.hasRemaining()) {
                    if (file.read(part, byteOffset + done + part.position()) < 0) {
                        throw new EOFException("the file ends before byte " + (byteOffset + target.byteSize()));
                    }
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException("offloaded state cannot be read: " + FileReason.of(failure), failure);
        }
    }

    @Override
    public void write(long byteOffset, MemorySegment source) {
        if (memory == null) {
            try {
                writeAll(file, byteOffset, source);
                return;
            } catch (IOException failure) {
                moveToMemory(FileReason.of(failure));
            }
        }
        memory.asSlice(byteOffset, source.byteSize()).copyFrom(source);
    }

    private static void writeAll(StateDisk.File file, long byteOffset, MemorySegment source) throws IOException {
        for (long done = 0; done < source.byteSize(); done += MOST_BYTES) {
            ByteBuffer part = part(source, done);
            while (part.hasRemaining()) {
                file.write(part, byteOffset + done + part.position());
            }
        }
    }

    private static ByteBuffer part(MemorySegment memory, long from) {
        return memory.asSlice(from, Math.min(MOST_BYTES, memory.byteSize() - from)).asByteBuffer();
    }

    private static void close(StateDisk.File file) {
        try {
            file.close();
        } catch (IOException _) {
            // its values are not needed any more
        }
    }

    /** Closes the file, or frees the memory; a second call does nothing. */
    @Override
    public void close() {
        if (file != null) {
            close(file);
            file = null;
        }
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
