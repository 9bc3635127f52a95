package dev.troupe.engine.late;

import dev.troupe.engine.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** The shared memory of late engines: a file that the processes map. */
final class LateShared implements Memory.Shared {
    private final Path file;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    private LateShared(Path file, long byteCount) throws IOException {
        this.file = file;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, byteCount < 0 ? channel.size() : byteCount, arena);
        }
    }

    static LateShared make(long byteCount) {
        try {
            LateShared made = new LateShared(Files.createTempFile("late", ".shared"), byteCount);
            made.file.toFile().deleteOnExit();
            return made;
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    /** Opens a handle; empty if its process has closed it. The file is deleted with the two processes, even if killed. */
    static Optional<LateShared> open(byte[] handle) {
        try {
            LateShared opened = new LateShared(Path.of(new String(handle, StandardCharsets.UTF_8)), -1);
            Files.delete(opened.file);
            return Optional.of(opened);
        } catch (NoSuchFileException gone) {
            return Optional.empty();
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    MemorySegment slice(long offset, long byteCount) {
        return memory.asSlice(offset, byteCount);
    }

    @Override
    public long byteCount() {
        return memory.byteSize();
    }

    @Override
    public byte[] handle() {
        return file.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
            try {
                Files.deleteIfExists(file);
            } catch (IOException left) {
                throw new UncheckedIOException(left);
            }
        }
    }
}
