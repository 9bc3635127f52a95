package dev.troupe.transport.driver;

import dev.troupe.transport.TransportException;
import io.aeron.CncFileDescriptor;
import io.aeron.CommonContext;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.agrona.IoUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The directory with the media driver's memory-mapped files: its choice, checks and deletion. */
public final class DriverDirectory {
    private static final Logger LOG = LoggerFactory.getLogger(DriverDirectory.class);
    /** The directory of rings that their readers have not opened. */
    static final String RINGS = "rings";
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    /** The files that a killed driver leaves. A directory with any other file is not deleted. */
    private static final Set<String> DRIVER_FILES = Set.of("cnc.dat", "loss-report.dat", "publications", "images",
            DriverDirectory.RINGS);
    /** Aeron's default: a driver with an older heartbeat is dead. */
    private static final long DRIVER_TIMEOUT_MILLIS = 10_000;
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final Pattern OWN_DIRECTORY = Pattern.compile("troupe-(\\d{1,18})-[0-9a-f]{8}");
    private static final long MEBIBYTE = 1L << 20;

    private DriverDirectory() {
    }

    /**
     * Chooses the directory and checks that a driver may start there; creates nothing.
     *
     * @param wanted {@code transport.directory}; empty for an own directory
     * @param neededBytes the bytes that the driver will need there
     * @throws TransportException if it is in use, holds other files, cannot be written, or has too little space
     */
    static Path choose(Optional<Path> wanted, long neededBytes) {
        Path directory = wanted.map(Path::toAbsolutePath).orElseGet(DriverDirectory::ownDirectory);
        if (Files.exists(directory)) {
            checkMayReplace(directory);
        }
        checkRoom(directory, neededBytes);
        return directory;
    }

    private static Path ownDirectory() {
        Path base = Files.isDirectory(SHARED_MEMORY) && Files.isWritable(SHARED_MEMORY)
                ? SHARED_MEMORY
                : Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath();
        deleteAbandoned(base);
        String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
        return base.resolve("troupe-" + ProcessHandle.current().pid() + "-" + random);
    }

    /** Deletes directories of killed processes: the process in their name has ended, and no driver runs there. */
    static void deleteAbandoned(Path base) {
        try (Stream<Path> entries = Files.list(base)) {
            for (Path entry : entries.toList()) {
                Matcher name = OWN_DIRECTORY.matcher(entry.getFileName().toString());
                if (name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty() && !isInUse(entry)) {
                    LOG.debug("deleting {}, which a killed process has left", entry);
                    delete(entry);
                }
            }
        } catch (IOException e) {
            LOG.debug("could not look for abandoned directories in {}", base, e);
        }
    }

    private static void checkMayReplace(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw new TransportException("transport.directory must be a directory or not exist, but " + directory
                    + " is a file; name another one");
        }
        List<String> strangers;
        try (Stream<Path> entries = Files.list(directory)) {
            strangers = entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> !DRIVER_FILES.contains(name)).sorted().toList();
        } catch (IOException e) {
            throw new TransportException(
                    "transport.directory " + directory + " cannot be read ("
                            + (e instanceof AccessDeniedException ? "permission denied" : e.getMessage())
                            + "); name another one",
                    e);
        }
        if (!strangers.isEmpty()) {
            throw new TransportException("transport.directory must be empty or absent, since it is deleted at the end,"
                    + " but " + directory + " holds " + strangers.getFirst() + "; name another one");
        }
        if (isAtWork(directory)) {
            throw new TransportException("transport.directory " + directory
                    + " is in use by another live media driver; end that run, or name another directory");
        }
    }

    /**
     * Returns whether a driver runs in a directory. A killed driver looks alive for 10 seconds, so this waits for the next
     * heartbeat: about a second if a driver runs, and 10 seconds if it was just killed.
     */
    public static boolean isAtWork(Path directory) {
        long sinceNanos = System.nanoTime();
        while (isInUse(directory)) {
            long waitedMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
            if (hasBeatenWithin(directory, waitedMillis)) {
                return true;
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
        return false;
    }

    /** Returns whether the last heartbeat is at most 10 seconds old, so that a driver may run. */
    static boolean isInUse(Path directory) {
        return hasBeatenWithin(directory, DRIVER_TIMEOUT_MILLIS);
    }

    private static boolean hasBeatenWithin(Path directory, long millis) {
        try {
            return CommonContext.isDriverActive(directory.toFile(), millis, LOG::debug);
        } catch (RuntimeException e) {
            // Aeron throws on a file that it cannot read, which no live driver has.
            LOG.debug("no readable driver files in {}", directory, e);
            return false;
        }
    }

    /** Returns the process of the driver that wrote a directory; empty if none did. */
    public static OptionalLong processOf(Path directory) {
        Path file = directory.resolve(CncFileDescriptor.CNC_FILE);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
            try {
                return OptionalLong.of(CncFileDescriptor.pid(CncFileDescriptor.createMetaDataBuffer(mapped)));
            } finally {
                IoUtil.unmap(mapped);
            }
        } catch (IOException e) {
            LOG.debug("no driver's file {}", file, e);
            return OptionalLong.empty();
        }
    }

    private static void checkRoom(Path directory, long neededBytes) {
        Path existing = directory;
        while (!Files.exists(existing)) {
            existing = existing.getParent();
        }
        if (!Files.isWritable(existing)) {
            throw new TransportException("transport.directory must be in a place that can be written, but " + existing
                    + " cannot; name another one");
        }
        long found = existing.toFile().getUsableSpace();
        if (found < neededBytes) {
            throw new TransportException("the transport needs " + Math.ceilDiv(neededBytes, MEBIBYTE) + " MiB in "
                    + existing + ", but only " + Math.floorDiv(found, MEBIBYTE)
                    + " MiB are free there; make transport.term-length smaller,"
                    + " or let transport.directory name a place with more room");
        }
    }

    /**
     * Hides the driver's files from other users, before they contain any tensor. Later files are inside these directories.
     */
    static void hide(Path directory) throws IOException {
        if (!Files.getFileStore(directory).supportsFileAttributeView(PosixFileAttributeView.class)) {
            return;
        }
        try (Stream<Path> made = Files.walk(directory)) {
            for (Path path : made.toList()) {
                Files.setPosixFilePermissions(path,
                        PosixFilePermissions.fromString(Files.isDirectory(path) ? "rwx------" : "rw-------"));
            }
        }
    }

    /**
     * Deletes the directory and its content, if it exists; logs failures. Its driver must have ended, or never have started.
     */
    public static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.deleteIfExists(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path folder, IOException error) throws IOException {
                    Files.deleteIfExists(folder);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            LOG.warn("could not delete {} wholly", directory, e);
        }
    }
}
