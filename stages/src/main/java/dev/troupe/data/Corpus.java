package dev.troupe.data;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The tokens of a text or token file. Bytes and {@code .bin} files stay where they lie, mapped into memory; what a
 * tokenizer makes of a text takes two bytes a token. Any number of threads may read it; none may once it is closed.
 */
public final class Corpus implements AutoCloseable {
    private static final String TOKEN_FILE_SUFFIX = ".bin";

    private final Arena arena;
    private final Tokens tokens;

    private Corpus(Arena arena, Tokens tokens) {
        this.arena = arena;
        this.tokens = tokens;
    }

    /** Whether a file is taken for tokens rather than for text, by its name. */
    public static boolean isTokenFile(Path file) {
        return file.getFileName() != null && file.getFileName().toString().endsWith(TOKEN_FILE_SUFFIX);
    }

    /**
     * Opens a file: tokens where {@link #isTokenFile} says so, else text. The caller closes it.
     *
     * @param tokenizer
     *            for text; a token file has no use for it
     * @throws DataException
     *             where the file cannot be read or is not what its name says
     */
    public static Corpus open(Path file, Tokenizer tokenizer) {
        return isTokenFile(file) ? openTokens(file) : openText(file, tokenizer);
    }

    /**
     * Opens a file of little-endian uint16 tokens. The caller closes it.
     *
     * @throws DataException
     *             where the file cannot be read, is empty or has an odd number of bytes
     */
    public static Corpus openTokens(Path file) {
        Arena arena = Arena.ofShared();
        try {
            MemorySegment bytes = map(file, arena);
            if (bytes.byteSize() % Short.BYTES != 0) {
                throw new DataException(file + " must hold little-endian uint16 tokens, two bytes each, but has "
                        + bytes.byteSize() + " bytes; write it again, or rename it if it is text");
            }
            return new Corpus(arena, new Tokens(file.toString(), bytes, Short.BYTES));
        } catch (RuntimeException refused) {
            arena.close();
            throw refused;
        }
    }

    /**
     * Opens a file of UTF-8 text. The caller closes it.
     *
     * @throws DataException
     *             where the file cannot be read, is empty or not UTF-8
     */
    public static Corpus openText(Path file, Tokenizer tokenizer) {
        Arena arena = Arena.ofShared();
        try {
            return new Corpus(arena, TextTokens.encode(file.toString(), map(file, arena), tokenizer));
        } catch (RuntimeException refused) {
            arena.close();
            throw refused;
        }
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
        return new Corpus(Arena.ofShared(), TextTokens.encode(name, MemorySegment.ofArray(utf8), tokenizer));
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
            throw new DataException("cannot read " + file + ": " + reason(failure), failure);
        }
    }

    private static void requireContent(String name, long byteCount) {
        if (byteCount == 0) {
            throw new DataException(name + " is empty; give a file with text or tokens in it");
        }
    }

    private static String reason(IOException failure) {
        return switch (failure) {
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

    /** Unmaps the file. */
    @Override
    public void close() {
        arena.close();
    }
}
