package dev.troupe.wire;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import dev.troupe.transport.TransportSettings;

/**
 * A ring buffer of memory that two processes of a machine share, for payloads from one to the other. The frames of a
 * stream carry the position after their payload. The writer never writes beyond the free room, and the reader frees
 * room as it reads.
 *
 * <p>Thread rule: each process has an object of its own, for one thread.
 */
public final class Ring implements AutoCloseable {
    /** Payloads begin at multiples of these bytes. */
    public static final int UNIT_BYTES = 64;
    private static final int HEADER_BYTES = TransportSettings.RING_HEADER_BYTES;
    private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment header;
    private final MemorySegment payloads;
    private final int capacity;
    /** The position up to which this side has written, or read. */
    private long position;

    private Ring(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment all = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
            this.header = all.asSlice(0, HEADER_BYTES);
            this.payloads = all.asSlice(HEADER_BYTES);
            this.capacity = Math.toIntExact(payloads.byteSize());
        }
    }

    /**
     * Creates a ring for its writer.
     *
     * @param capacity
     *            bytes, a multiple of {@link #UNIT_BYTES}
     */
    public static Ring create(Path file, int capacity) throws IOException {
        Files.createDirectories(file.getParent());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            // Every page is written, since a page without room at its first touch would end the process.
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
     * Opens a ring for its reader, and deletes its name: its memory is freed with its two processes, also where they
     * are killed.
     */
    public static Ring open(Path file) throws IOException {
        Ring ring = new Ring(file);
        Files.delete(file);
        return ring;
    }

    /** Returns the bytes that can be written now in one piece: all that are wanted, or fewer in whole units, or 0. */
    public int room(int wanted) {
        long read = (long) POSITION.getAcquire(header, 0L);
        long free = Math.min(capacity - (position - read), capacity - position % capacity);
        return (int) Math.min(wanted, free);
    }

    /** Returns the memory for the next payload, of the bytes that {@link #room} returned. */
    public MemorySegment next(int length) {
        return payloads.asSlice(position % capacity, length);
    }

    /** Marks the next payload as written; returns the position after it, for its frame. */
    public long advance(int length) {
        position += units(length);
        return position;
    }

    /** Whether a payload that ends at a position is one the writer can have written. */
    public boolean holds(long end, int length) {
        long start = end - units(length);
        return isAhead(end) && end % UNIT_BYTES == 0 && start >= position
                && start % capacity + length <= capacity;
    }

    private boolean isAhead(long end) {
        return end > position && end - position <= capacity;
    }

    /** Returns a payload that the ring {@link #holds}; valid until {@link #free}. */
    public MemorySegment payload(long end, int length) {
        return payloads.asSlice((end - units(length)) % capacity, length);
    }

    /** Frees all bytes up to a position, read or not. */
    public void free(long end) {
        if (isAhead(end)) {
            position = end;
            POSITION.setRelease(header, 0L, end);
        }
    }

    private static long units(int length) {
        return (length + UNIT_BYTES - 1L) / UNIT_BYTES * UNIT_BYTES;
    }

    @Override
    public void close() {
        arena.close();
    }
}
