package dev.troupe.transport.device;

import dev.troupe.engine.Memory;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The file through which the writer of a ring gets the handle of its memory, and later the reader's position. The writer
 * deletes the file's name. It holds a lock on the file while it has the memory open, so that the reader detects its end,
 * even by a kill.
 *
 * <p>Thread rule: each process has its own object, for one thread.
 */
final class RingNote implements AutoCloseable {
    /** Size of the file, one page: the reader's position, a state, and the handle. */
    private static final int BYTES = 4096;
    private static final int STATE_AT = 64;
    private static final int NUMBER_AT = 128;
    private static final int LENGTH_AT = 132;
    private static final int HANDLE_AT = 136;
    private static final int REFUSED = 1;
    private static final VarHandle STATE = ValueLayout.JAVA_INT.varHandle();

    private final Path file;
    private final FileChannel channel;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment page;

    private RingNote(Path file, FileChannel channel) throws IOException {
        this.file = file;
        this.channel = channel;
        try {
            this.page = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
        } catch (IOException unmapped) {
            channel.close();
            throw unmapped;
        }
    }

    /** Writes the note of a ring. */
    static RingNote write(Path file, int number, byte[] handle) throws IOException {
        Files.createDirectories(file.getParent());
        Path draft = file.resolveSibling(file.getFileName() + ".draft"); // nobody opens half a note
        RingNote note = new RingNote(file, FileChannel.open(draft, StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.READ, StandardOpenOption.WRITE));
        note.page.set(ValueLayout.JAVA_INT, NUMBER_AT, number);
        note.page.set(ValueLayout.JAVA_INT, LENGTH_AT, handle.length);
        MemorySegment.copy(handle, 0, note.page, ValueLayout.JAVA_BYTE, HANDLE_AT, handle.length);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        return note;
    }

    /** Opens the note of a ring for its writer; empty if the file does not exist. */
    static Optional<RingNote> open(Path file) throws IOException {
        FileChannel channel;
        try {
            channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } catch (NoSuchFileException none) {
            return Optional.empty();
        }
        RingNote note = new RingNote(file, channel);
        try {
            FileLock lock = channel.tryLock(); // ends with the channel
            if (lock == null) {
                throw new IOException("another process holds " + file);
            }
            Files.delete(file);
            return Optional.of(note);
        } catch (IOException | OverlappingFileLockException unusable) {
            note.close();
            throw unusable instanceof IOException known ? known : new IOException(unusable);
        }
    }

    /** Returns the memory that begins with the reader's position. */
    MemorySegment position() {
        return page;
    }

    int number() {
        return page.get(ValueLayout.JAVA_INT, NUMBER_AT);
    }

    byte[] handle() {
        int length = Math.clamp(page.get(ValueLayout.JAVA_INT, LENGTH_AT), 0, Memory.Shared.MOST_HANDLE_BYTES);
        return page.asSlice(HANDLE_AT, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Informs the reader that the ring will not be used. */
    void refuse() {
        STATE.setRelease(page, (long) STATE_AT, REFUSED);
    }

    boolean isRefused() {
        return (int) STATE.getAcquire(page, (long) STATE_AT) == REFUSED;
    }

    /** Returns whether another process has the ring's memory open. Called by the reader. */
    boolean isHeld() {
        try (FileLock free = channel.tryLock()) {
            return free == null;
        } catch (OverlappingFileLockException ownProcess) { // its writer is of this process, as in tests
            return true;
        } catch (IOException unknown) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        arena.close();
        channel.close();
    }

    /** Deletes the file's name, if the writer has not. */
    void delete() throws IOException {
        Files.deleteIfExists(file);
    }
}
