package dev.troupe.data;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The cache of numbers derived from files, valid as long as the files are the same. */
public final class KeptIds {
    private KeptIds() {
    }

    /**
     * Returns the numbers of some files from the cache, or makes them.
     *
     * @param purpose all other inputs of the numbers; the key is the hash of this and the files
     * @param maker reads the files; called twice if the numbers cannot be cached
     * @param arena unmaps cached numbers when it is closed
     * @return little-endian int32 each; valid until the arena is closed
     * @throws DataException if a file cannot be read, or changes meanwhile
     */
    public static MemorySegment of(CorpusFiles files, String purpose, TokenCache cache, TokenCache.Maker maker,
            Arena arena) {
        return cache.isKept() ? kept(files, purpose, cache, maker, arena) : inMemory(maker);
    }

    private static MemorySegment kept(CorpusFiles files, String purpose, TokenCache cache, TokenCache.Maker maker,
            Arena arena) {
        List<FileTime> before = times(files);
        ContentHash content = new ContentHash(purpose);
        for (Path file : files.files()) {
            try (Arena own = Arena.ofShared()) {
                content.add(DataFile.map(file, own));
            }
        }
        String hash = content.text();
        Optional<MemorySegment> ids = cache.find(hash, arena)
                .or(() -> cache.keep(hash, sink -> {
                    maker.make(sink);
                    requireUnchanged(files, before);
                }, arena));
        return ids.orElseGet(() -> inMemory(maker));
    }

    static MemorySegment inMemory(TokenCache.Maker maker) {
        IdBuffer ids = new IdBuffer();
        try {
            maker.make(ids);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return ids.segment();
    }

    private static List<FileTime> times(CorpusFiles files) {
        List<FileTime> times = new ArrayList<>();
        for (Path file : files.files()) {
            try {
                times.add(Files.getLastModifiedTime(file));
            } catch (IOException failure) {
                throw DataFile.unreadable(file, failure);
            }
        }
        return times;
    }

    /** Refuses files that changed while they were read, since the numbers must belong to the hashed text. */
    private static void requireUnchanged(CorpusFiles files, List<FileTime> before) {
        List<FileTime> now = times(files);
        for (int i = 0; i < before.size(); i++) {
            if (!now.get(i).equals(before.get(i))) {
                throw new DataException(
                        files.files().get(i) + " changed while it was read; start again when it is complete");
            }
        }
    }
}
