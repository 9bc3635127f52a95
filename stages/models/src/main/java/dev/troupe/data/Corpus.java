package dev.troupe.data;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * The tokens of text or token files. Bytes and {@code .bin} files stay where they lie, mapped into memory; what a byte-pair
 * encoding makes of text takes two bytes a token, in the cache or in memory. Any number of threads may read it; none
 * may once it is closed.
 *
 * <p>Each text file is a document. Of several, no token spans two: {@code gpt2} puts its end-of-text token between them, and
 * {@code bytes}, which has no token to spare, nothing, as if they were one file. Token files are joined as they are: what
 * wrote them put its own boundaries in. A sequence may begin in one document and end in the next.
 */
public final class Corpus implements AutoCloseable {
    /** What may stay mapped: Linux lets a process have some 65,000 mappings. */
    private static final int MOST_MAPPED = 10_000;
    private static final int LLM_C_HEADER_BYTES = 1024;
    private static final int LLM_C_MAGIC = 20240520;
    private static final int LLM_C_VERSION = 1;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Arena arena;
    private final Tokens tokens;

    private Corpus(Arena arena, Tokens tokens) {
        this.arena = arena;
        this.tokens = tokens;
    }

    /**
     * Opens files. The caller closes them.
     *
     * @param tokenizer
     *            for text; token files have no use for it
     * @param cache
     *            where what a byte-pair encoding makes of text is looked for and kept
     * @throws DataException
     *             where a file cannot be read or is not what its name says
     */
    public static Corpus open(CorpusFiles files, Tokenizer tokenizer, TokenCache cache) {
        Arena arena = Arena.ofShared();
        try {
            return new Corpus(arena, files.areTokens() ? tokens(files, arena) : text(files, tokenizer, cache, arena));
        } catch (RuntimeException refused) {
            arena.close();
            throw refused;
        }
    }

    /** As {@link #open(CorpusFiles, Tokenizer, TokenCache)}, one file, without a cache. */
    public static Corpus open(Path file, Tokenizer tokenizer) {
        return open(new CorpusFiles(file.toString(), List.of(file), CorpusFiles.isTokenFile(file)), tokenizer,
                TokenCache.none());
    }

    /**
     * The tokens of UTF-8 text in memory.
     *
     * @param name
     *            what messages call it
     * @param utf8
     *            not changed from here on
     * @throws DataException
     *             where it is empty or not UTF-8
     */
    public static Corpus ofText(String name, byte[] utf8, Tokenizer tokenizer) {
        requireContent(name, utf8.length);
        MemorySegment text = MemorySegment.ofArray(utf8);
        return new Corpus(Arena.ofShared(), switch (tokenizer) {
            case ByteTokenizer _ -> {
                TextTokens.requireUtf8(name, text);
                yield new Tokens(name, text, Byte.BYTES);
            }
            case Gpt2Tokenizer _ -> inMemory(name, sink -> TextTokens.encode(name, text, tokenizer, sink));
        });
    }

    /**
     * Writes the tokens of text files as a file of little-endian uint16 tokens, which is a corpus of the same tokens.
     *
     * @param progress
     *            hears how many tokens are written, again and again
     * @return how many there are
     * @throws DataException
     *             where the files are no text, or the new one is there already or cannot be written
     */
    public static long writeTokens(CorpusFiles files, Tokenizer tokenizer, Path target, LongConsumer progress) {
        if (files.areTokens()) {
            throw new DataException(files.files().getFirst() + " holds tokens already; name text files");
        }
        String taken = target + " is there already; delete it, or choose another name";
        if (Files.exists(target)) {
            throw new DataException(taken);
        }
        try (IdFile ids = new IdFile(target, 0, Short.BYTES)) {
            encode(files, tokenizer, (some, count) -> {
                ids.append(some, count);
                progress.accept(ids.count());
            });
            ids.create();
            return ids.count();
        } catch (FileAlreadyExistsException appeared) {
            throw new DataException(taken, appeared);
        } catch (IOException failure) {
            throw new DataException("cannot write " + target + ": " + reason(failure), failure);
        }
    }

    private static Tokens tokens(CorpusFiles files, Arena arena) {
        List<Tokens.Piece> pieces = pieces(files, arena).stream()
                .map(piece -> new Tokens.Piece(piece.name(), ids(piece.name(), piece.ids()))).toList();
        return new Tokens(files.name(), pieces, Short.BYTES);
    }

    private static List<Tokens.Piece> pieces(CorpusFiles files, Arena arena) {
        if (files.files().size() > MOST_MAPPED) {
            throw new DataException(files.name() + ": at most " + MOST_MAPPED
                    + " files can be read at once as they are; join them, for text with troupe tokenize");
        }
        return files.files().stream().map(file -> new Tokens.Piece(file.toString(), map(file, arena))).toList();
    }

    private static MemorySegment ids(String name, MemorySegment bytes) {
        if (bytes.byteSize() % Short.BYTES != 0) {
            throw new DataException(name + " must hold little-endian uint16 tokens, two bytes each, but has "
                    + bytes.byteSize() + " bytes; write it again, or rename it if it is text");
        }
        return hasHeader(name, bytes) ? bytes.asSlice(LLM_C_HEADER_BYTES) : bytes;
    }

    /** Whether a file begins as those of llm.c do: 256 int32, the first three being magic, version and number of tokens. */
    private static boolean hasHeader(String name, MemorySegment bytes) {
        if (bytes.byteSize() <= LLM_C_HEADER_BYTES || bytes.get(INT, 0) != LLM_C_MAGIC
                || bytes.get(INT, Integer.BYTES) != LLM_C_VERSION) {
            return false;
        }
        long said = Integer.toUnsignedLong(bytes.get(INT, 2 * Integer.BYTES));
        long found = (bytes.byteSize() - LLM_C_HEADER_BYTES) / Short.BYTES;
        if (said != found) {
            throw new DataException(name + " has the header of llm.c, which says " + said + " tokens, but " + found
                    + " come after it; write it again");
        }
        return true;
    }

    private static Tokens text(CorpusFiles files, Tokenizer tokenizer, TokenCache cache, Arena arena) {
        return switch (tokenizer) {
            case ByteTokenizer _ -> {
                List<Tokens.Piece> pieces = pieces(files, arena);
                pieces.forEach(piece -> TextTokens.requireUtf8(piece.name(), piece.ids()));
                yield new Tokens(files.name(), pieces, Byte.BYTES);
            }
            case Gpt2Tokenizer _ -> cache.isKept()
                    ? kept(files, tokenizer, cache, arena)
                    : inMemory(files.name(), sink -> encode(files, tokenizer, sink));
        };
    }

    private static Tokens kept(CorpusFiles files, Tokenizer tokenizer, TokenCache cache, Arena arena) {
        List<FileTime> before = times(files);
        ContentHash content = new ContentHash("tokens of " + tokenizer.name() + ", end of text between documents, 2");
        files.files().forEach(file -> with(file, content::add));
        String hash = content.text();
        Optional<MemorySegment> ids = cache.find(hash, arena)
                .or(() -> cache.keep(hash, sink -> {
                    encode(files, tokenizer, sink);
                    requireUnchanged(files, before);
                }, arena));
        return ids.isPresent()
                ? new Tokens(files.name(), ids.get(), Integer.BYTES)
                : inMemory(files.name(), sink -> encode(files, tokenizer, sink));
    }

    private static List<FileTime> times(CorpusFiles files) {
        List<FileTime> times = new ArrayList<>();
        for (Path file : files.files()) {
            try {
                times.add(Files.getLastModifiedTime(file));
            } catch (IOException failure) {
                throw unreadable(file, failure);
            }
        }
        return times;
    }

    /** What is kept under the hash of a text must be that text's. */
    private static void requireUnchanged(CorpusFiles files, List<FileTime> before) {
        List<FileTime> now = times(files);
        for (int i = 0; i < before.size(); i++) {
            if (!now.get(i).equals(before.get(i))) {
                throw new DataException(
                        files.files().get(i) + " changed while it was read; start again when it is complete");
            }
        }
    }

    private static void encode(CorpusFiles files, Tokenizer tokenizer, IdSink sink) throws IOException {
        boolean isFirst = true;
        for (Path file : files.files()) {
            if (!isFirst && tokenizer.endOfText().isPresent()) {
                sink.append(new int[]{tokenizer.endOfText().getAsInt()});
            }
            isFirst = false;
            try (Arena own = Arena.ofShared()) {
                TextTokens.encode(file.toString(), map(file, own), tokenizer, sink);
            }
        }
    }

    private static Tokens inMemory(String name, TokenCache.Maker maker) {
        IdBuffer ids = new IdBuffer();
        try {
            maker.make(ids);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return new Tokens(name, ids.segment(), Integer.BYTES);
    }

    private static void with(Path file, Consumer<MemorySegment> use) {
        try (Arena own = Arena.ofShared()) {
            use.accept(map(file, own));
        }
    }

    private static MemorySegment map(Path file, Arena arena) {
        if (Files.isDirectory(file)) {
            throw new DataException(file + " must be a text or token file, but is a directory; name a file inside it");
        }
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new DataException(
                    file + " must be a text or token file, but is a device or a pipe; save it as a file");
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            requireContent(file.toString(), channel.size());
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
        } catch (IOException failure) {
            throw unreadable(file, failure);
        }
    }

    private static DataException unreadable(Path file, IOException failure) {
        return new DataException("cannot read " + file + ": " + reason(failure), failure);
    }

    private static void requireContent(String name, long byteCount) {
        if (byteCount == 0) {
            throw new DataException(name + " is empty; give a file with text or tokens in it");
        }
    }

    /** Why the operating system refused, in words. */
    static String reason(Exception failure) {
        return switch (failure) {
            case UncheckedIOException unchecked -> reason(unchecked.getCause());
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException system when system.getReason() != null -> system.getReason();
            default -> failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
        };
    }

    /** All tokens; valid until this corpus is closed. */
    public Tokens tokens() {
        return tokens;
    }

    /** Unmaps the files. */
    @Override
    public void close() {
        arena.close();
    }
}
