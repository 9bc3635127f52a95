package dev.troupe.data;

import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * A cache of tokens of text, under the hash of text and tokenizer: {@code FOLDER/tokens/HASH.tokens}, a header of 64 bytes
 * (magic, number of ids, CRC-32C of the ids) and the ids, little-endian, four bytes each. Files are renamed when complete,
 * so that several processes may share a folder. A file may be deleted at any time; the least recently used are deleted if
 * the folder is full. A failure of the cache costs time, but never ends a run.
 *
 * <p>Thread rule: any thread.
 */
public final class TokenCache {
    private static final String FOLDER = "tokens";
    private static final String SUFFIX = ".tokens";
    private static final long MAGIC = 0x32304B4F54_505254L; // "TRPTOK02" from its first byte on
    private static final int HEADER_BYTES = 64;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    /** The limit: tokens of about 15 GB of text. */
    private static final long MOST_BYTES = 16L << 30;
    private static final Duration ABANDONED = Duration.ofDays(1);
    private static final long CHECKED_AT_A_TIME = 1 << 28;

    private final Optional<Path> folder;
    private final long mostBytes;
    private final Consumer<String> notes;

    private TokenCache(Optional<Path> folder, long mostBytes, Consumer<String> notes) {
        this.folder = folder;
        this.mostBytes = mostBytes;
        this.notes = notes;
    }

    public static TokenCache none() {
        return new TokenCache(Optional.empty(), 0, _ -> {
        });
    }

    /**
     * Returns a cache in a folder, which is created with the first file.
     *
     * @param notes receives a sentence for the user: on a damaged file, or a folder that cannot be written
     */
    public static TokenCache in(Path folder, Consumer<String> notes) {
        return in(folder, MOST_BYTES, notes);
    }

    static TokenCache in(Path folder, long mostBytes, Consumer<String> notes) {
        return new TokenCache(Optional.of(folder.resolve(FOLDER)), mostBytes, notes);
    }

    /**
     * Returns the place of a user's cache: {@code $XDG_CACHE_HOME/troupe}, or {@code ~/.cache/troupe} if that is not set or
     * relative, by the XDG Base Directory Specification.
     *
     * @param xdgCacheHome the variable; null if it is not set
     */
    public static Path ofUser(String xdgCacheHome, String home) {
        boolean isSet = xdgCacheHome != null && xdgCacheHome.startsWith("/");
        return (isSet ? Path.of(xdgCacheHome) : Path.of(home, ".cache")).resolve("troupe");
    }

    boolean isKept() {
        return folder.isPresent();
    }

    /** Returns the mapped ids of a hash; empty if there are none or they are damaged. */
    Optional<MemorySegment> find(String hash, Arena arena) {
        Optional<Path> file = folder.map(there -> there.resolve(hash + SUFFIX));
        if (file.isEmpty() || !Files.isRegularFile(file.get())) {
            return Optional.empty();
        }
        try (FileChannel channel = FileChannel.open(file.get(), StandardOpenOption.READ)) {
            MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            if (!isWhole(bytes)) {
                notes.accept("the kept tokens in " + file.get()
                        + " are damaged, so the text is tokenized again");
                Files.deleteIfExists(file.get());
                return Optional.empty();
            }
            touch(file.get());
            return Optional.of(bytes.asSlice(HEADER_BYTES));
        } catch (NoSuchFileException deletedMeanwhile) {
            return Optional.empty();
        } catch (IOException failure) {
            notes.accept("the kept tokens in " + file.get() + " cannot be read (" + FileReason.of(failure)
                    + "), so the text is tokenized again");
            return Optional.empty();
        }
    }

    private static boolean isWhole(MemorySegment bytes) {
        return bytes.byteSize() > HEADER_BYTES && bytes.get(LONG, 0) == MAGIC
                && bytes.get(LONG, Long.BYTES) == (bytes.byteSize() - HEADER_BYTES) / Integer.BYTES
                && bytes.byteSize() % Integer.BYTES == 0
                && bytes.get(LONG, 2 * Long.BYTES) == checksum(bytes.asSlice(HEADER_BYTES));
    }

    private static long checksum(MemorySegment ids) {
        CRC32C checksum = new CRC32C();
        for (long from = 0; from < ids.byteSize(); from += CHECKED_AT_A_TIME) {
            checksum.update(ids.asSlice(from, Math.min(CHECKED_AT_A_TIME, ids.byteSize() - from)).asByteBuffer());
        }
        return checksum.getValue();
    }

    private static void touch(Path file) {
        try {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
        } catch (IOException readOnly) {
            // A failure only makes the file look older than it is.
        }
    }

    /** A source of ids. */
    public interface Maker {
        /**
         * @throws IOException of the sink
         */
        void make(IdSink sink) throws IOException;
    }

    /**
     * Stores ids under a hash, in place of older ones.
     *
     * @return the stored ids, mapped; empty if they cannot be stored, after a note
     */
    Optional<MemorySegment> keep(String hash, Maker maker, Arena arena) {
        if (folder.isEmpty()) {
            return Optional.empty();
        }
        Path file = folder.get().resolve(hash + SUFFIX);
        try {
            Files.createDirectories(folder.get());
            try (IdFile ids = new IdFile(file, HEADER_BYTES, Integer.BYTES)) {
                maker.make(ids);
                ids.replace(header(ids.count(), ids.checksum()));
            }
            makeRoom(file);
        } catch (IOException failure) {
            notes.accept("tokens cannot be kept in " + folder.get() + " (" + FileReason.of(failure)
                    + "), so text is tokenized at every start; data.cache names another folder");
            return Optional.empty();
        }
        return find(hash, arena);
    }

    private static ByteBuffer header(long count, long checksum) {
        return ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(MAGIC).putLong(count)
                .putLong(checksum).rewind();
    }

    private record Kept(Path file, long bytes, Instant used) {
    }

    /** Deletes the least recently used files until the rest fits the limit; the newest remains whatever its size. */
    private void makeRoom(Path newest) throws IOException {
        List<Kept> kept = new ArrayList<>();
        try (Stream<Path> all = Files.list(folder.orElseThrow())) {
            for (Path file : all.toList()) {
                look(file).ifPresent(kept::add);
            }
        }
        Instant abandoned = Instant.now().minus(ABANDONED);
        for (Kept entry : kept) {
            if (entry.file().toString().endsWith(IdFile.TEMPORARY) && entry.used().isBefore(abandoned)) {
                Files.deleteIfExists(entry.file());
            }
        }
        kept.removeIf(entry -> !entry.file().toString().endsWith(SUFFIX));
        kept.sort(Comparator.comparing(Kept::used));
        long bytes = kept.stream().mapToLong(Kept::bytes).sum();
        for (Kept entry : kept) {
            if (bytes > mostBytes && !entry.file().equals(newest)) {
                Files.deleteIfExists(entry.file());
                bytes -= entry.bytes();
            }
        }
    }

    private static Optional<Kept> look(Path file) throws IOException {
        try {
            return Optional.of(new Kept(file, Files.size(file), Files.getLastModifiedTime(file).toInstant()));
        } catch (NoSuchFileException deletedMeanwhile) {
            return Optional.empty();
        }
    }
}
