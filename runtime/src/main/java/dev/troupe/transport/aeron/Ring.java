package dev.troupe.transport.aeron;

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

/**
 * Memory that two processes of a machine share, through which payloads go from one to the other, one after another and
 * around. What is where, a stream of frames says; a frame carries the position behind its payload. The writer is never
 * further ahead than there is room, and the reader gives room back as it reads.
 *
 * <p>Thread rule: each process has its own, for one thread.
 */
final class Ring implements AutoCloseable {
    /** The reader's position has a page of its own: no line of the cache holds it and payload. */
    private static final int HEADER_BYTES = 4096;
    private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final MemorySegment header;
    private final MemorySegment payloads;
    private final int capacity;
    /** How far this side has written, or read. */
    private long position;

    private Ring(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment all = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
            this.header = all.asSlice(0, HEADER_BYTES);
            this.payloads = all.asSlice(HEADER_BYTES);
            this.capacity = Math.toIntExact(payloads.byteSize());
        }
    }

    /** Bytes that a ring takes in its directory. */
    static long fileBytes(int capacity) {
        return HEADER_BYTES + capacity;
    }

    /**
     * Makes one for its writer.
     *
     * @param capacity
     *            bytes, a multiple of {@link FrameWriter#PAYLOAD_UNIT}
     */
    static Ring create(Path file, int capacity) throws IOException {
        Files.createDirectories(file.getParent());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            // Written out: a page that finds no room when it is first touched would end the process.
            ByteBuffer zeros = ByteBuffer.allocate(HEADER_BYTES);
            long at = 0;
            while (at < fileBytes(capacity)) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), fileBytes(capacity) - at));
                at += channel.write(zeros, at);
            }
        }
        return new Ring(file);
    }

    /** Opens one for its reader, and deletes its name: it goes with those who have it, also where they are killed. */
    static Ring open(Path file) throws IOException {
        Ring ring = new Ring(file);
        Files.delete(file);
        return ring;
    }

    /** How many bytes in one piece can be written now: all that are wanted, or whole units of less, or 0. */
    int room(int wanted) {
        long read = (long) POSITION.getAcquire(header, 0L);
        long free = Math.min(capacity - (position - read), capacity - position % capacity);
        return (int) Math.min(wanted, free);
    }

    /** Where the next payload is to be written, of so many bytes as there is {@link #room} for. */
    MemorySegment next(int length) {
        return payloads.asSlice(position % capacity, length);
    }

    /** The next payload is written; returns the position behind it, for its frame. */
    long advance(int length) {
        position += units(length);
        return position;
    }

    /** Whether a payload that ends at a position is one the writer can have written. */
    boolean holds(long end, int length) {
        long start = end - units(length);
        return isAhead(end) && end % FrameWriter.PAYLOAD_UNIT == 0 && start >= position
                && start % capacity + length <= capacity;
    }

    private boolean isAhead(long end) {
        return end > position && end - position <= capacity;
    }

    /** A payload that it {@link #holds}; until {@link #free}. */
    MemorySegment payload(long end, int length) {
        return payloads.asSlice((end - units(length)) % capacity, length);
    }

    /** Everything up to a position is read, or will not be. */
    void free(long end) {
        if (isAhead(end)) {
            position = end;
            POSITION.setRelease(header, 0L, end);
        }
    }

    private static long units(int length) {
        return (length + FrameWriter.PAYLOAD_UNIT - 1L) / FrameWriter.PAYLOAD_UNIT * FrameWriter.PAYLOAD_UNIT;
    }

    @Override
    public void close() {
        arena.close();
    }
}
