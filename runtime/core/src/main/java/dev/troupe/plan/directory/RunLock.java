package dev.troupe.plan.directory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The lock of a run's directory: a file that this process has locked, and that names its holder. Thread rule: any thread.
 */
final class RunLock implements AutoCloseable {
    static final String FILE = "run.lock";

    /**
     * The directories that runs of this process have locked: the system releases a lock when any channel of its file closes.
     */
    private static final Set<Path> TAKEN_HERE = ConcurrentHashMap.newKeySet();

    private final Path file;
    private final Path directory;
    private final FileChannel channel;

    private RunLock(Path file, Path directory, FileChannel channel) {
        this.file = file;
        this.directory = directory;
        this.channel = channel;
    }

    /** Takes the lock of an existing directory; empty if another run has it. */
    static Optional<RunLock> take(Path directory) throws IOException {
        Path real = directory.toRealPath();
        if (!TAKEN_HERE.add(real)) {
            return Optional.empty();
        }
        Optional<RunLock> taken = Optional.empty();
        try {
            taken = take(directory.resolve(FILE), real);
            return taken;
        } finally {
            if (taken.isEmpty()) {
                TAKEN_HERE.remove(real);
            }
        }
    }

    private static Optional<RunLock> take(Path file, Path real) throws IOException {
        // The file must exist before its key is read.
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
        Optional<Object> key = keyOf(file);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        // A run deletes its file before it releases the lock, and the lock of a deleted file has no effect.
        if (tryLock(channel) == null || !keyOf(file).equals(key)) {
            channel.close();
            return Optional.empty();
        }
        LockHolder.write(channel);
        return Optional.of(new RunLock(file, real, channel));
    }

    /**
     * Returns the key that distinguishes a file from others with the same name; empty if there is no file, or no such key.
     */
    private static Optional<Object> keyOf(Path file) throws IOException {
        try {
            return Optional.ofNullable(Files.readAttributes(file, BasicFileAttributes.class).fileKey());
        } catch (NoSuchFileException _) {
            return Optional.empty();
        }
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException _) {
            return null; // a run of this very process
        }
    }

    /** Whether a run of this process has the lock. The file is not opened, since closing it would release the lock. */
    private static boolean isTakenHere(Path directory) {
        try {
            return TAKEN_HERE.contains(directory.toRealPath());
        } catch (IOException _) {
            return false; // there is no such directory
        }
    }

    static boolean isTaken(Path directory) {
        if (isTakenHere(directory)) {
            return true;
        }
        try (FileChannel channel = FileChannel.open(directory.resolve(FILE), StandardOpenOption.WRITE)) {
            return tryLock(channel) == null;
        } catch (IOException _) {
            return false; // no run has ever locked it, or it is no directory
        }
    }

    /** Whether a process seems to have the lock, which is not tried: see {@link RunDirectory#isHeld}. */
    static boolean isHeld(Path directory) {
        Path lock = directory.resolve(FILE);
        return isTakenHere(directory)
                || Files.exists(lock) && !LockHolder.read(lock).map(LockHolder::isGone).orElse(false);
    }

    /** Returns the process that the file names; empty if it names none, or a run of this process has the lock. */
    static Optional<LockHolder> otherHolder(Path directory) {
        return isTakenHere(directory) ? Optional.empty() : LockHolder.read(directory.resolve(FILE));
    }

    void eraseHolder() {
        LockHolder.erase(channel);
    }

    @Override
    public void close() {
        try {
            Files.deleteIfExists(file);
            channel.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } finally {
            TAKEN_HERE.remove(directory);
        }
    }
}
