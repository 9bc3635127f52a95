package dev.troupe.wire;

import dev.troupe.transport.TransportSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A ring buffer in memory that two processes of a machine share, for payloads in one direction. Each frame carries the
 * position after its payload. The writer writes only into free space, and the reader frees space as it reads.
 *
 * <p>Thread rule: each process has its own object, for one thread.
 */
public final class Ring implements AutoCloseable {
    private static final int HEADER_BYTES = TransportSettings.RING_HEADER_BYTES;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment payloads;
    private final RingPositions positions;

    private Ring(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment all = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
            this.payloads = all.asSlice(HEADER_BYTES);
            this.positions = new RingPositions(all.asSlice(0, HEADER_BYTES), payloads.byteSize());
        }
    }

    /**
     * Creates a ring for its writer.
     *
     * @param capacity bytes, a multiple of {@link RingPositions#UNIT_BYTES}
     */
    public static Ring create(Path file, int capacity) throws IOException {
        Files.createDirectories(file.getParent());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            // Writes every page now, since the first touch of a page would kill the process if the file system were full.
            ByteBuffer zeros = ByteBuffer.allocate(HEADER_BYTES);
            long at = 0;
            while (at < HEADER_BYTES + capacity) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), HEADER_BYTES + capacity - at));
                at += channel.write(zeros, at);
            }
        }
        return new Ring(file);
    }

    /**
     * Opens a ring for its reader, and deletes its name, so that its memory is freed when both processes have ended or are
     * killed.
     */
    public static Ring open(Path file) throws IOException {
        Ring ring = new Ring(file);
        Files.delete(file);
        return ring;
    }

    public RingPositions positions() {
        return positions;
    }

    /** Returns the bytes that can be written now in one piece: {@code wanted}, or fewer in whole units, or 0. */
    public int room(int wanted) {
        return positions.room(wanted);
    }

    /** Returns the memory of the next payload; {@code length} is a result of {@link #room}. */
    public MemorySegment next(int length) {
        return payloads.asSlice(positions.start(), length);
    }

    /** Marks the next payload as written; returns the position after it, for its frame. */
    public long advance(int length) {
        return positions.advance(length);
    }

    /** Returns a payload that the ring {@linkplain RingPositions#holds holds}; valid until {@link #free}. */
    public MemorySegment payload(long end, int length) {
        return payloads.asSlice(positions.start(end, length), length);
    }

    /** Frees all bytes up to a position, read or not. */
    public void free(long end) {
        if (positions.advanceTo(end)) {
            positions.free(end);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
