package dev.troupe.data;

import dev.troupe.tokenizer.ByteTokenizer;
import dev.troupe.tokenizer.Gpt2Tokenizer;
import dev.troupe.tokenizer.HuggingFaceTokenizer;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;

/**
 * The tokens of text or token files. Bytes and {@code .bin} files remain in place, mapped into memory; byte-pair encoded
 * text takes four bytes a token, in the cache or in memory. Any thread may read it until it is closed.
 *
 * <p>Each text file is a document. No token spans two documents. A tokenizer with an end-of-text token puts it between them;
 * {@code bytes} has none, and joins them. Token files are joined as they are, with the boundaries of their writer. A
 * sequence may begin in one document and end in the next.
 */
public final class Corpus implements AutoCloseable {
    /** The most files that may stay mapped: Linux lets a process have some 65,000 mappings. */
    private static final int MOST_MAPPED = 10_000;
    /** The ids that fit two bytes. */
    private static final int TWO_BYTE_IDS = 1 << Short.SIZE;

    private final Arena arena;
    private final Tokens tokens;

    private Corpus(Arena arena, Tokens tokens) {
        this.arena = arena;
        this.tokens = tokens;
    }

    /**
     * Opens files. The caller closes them.
     *
     * @param tokenizer for text; unused by token files
     * @param cache the cache of byte-pair encoded text
     * @param tokenBytes of token files: bytes of a token, 2 or 4; 0 for the header's, and 2 in a file without a header
     * @throws DataException if a file cannot be read or does not have the form of its name
     */
    public static Corpus open(CorpusFiles files, Tokenizer tokenizer, TokenCache cache, int tokenBytes) {
        Arena arena = Arena.ofShared();
        try {
            return new Corpus(arena, switch (files.kind()) {
                case TOKENS -> tokens(files, tokenBytes, arena);
                case TEXT -> text(files, tokenizer, cache, arena);
                case DOCUMENTS -> throw documents(files);
            });
        } catch (RuntimeException refused) {
            arena.close();
            throw refused;
        }
    }

    /** As {@link #open(CorpusFiles, Tokenizer, TokenCache, int)}, one file, without a cache. */
    public static Corpus open(Path file, Tokenizer tokenizer) {
        return open(new CorpusFiles(file.toString(), List.of(file), CorpusFiles.kindOf(file)), tokenizer,
                TokenCache.none(), 0);
    }

    /**
     * Returns the tokens of UTF-8 text in memory.
     *
     * @param utf8 must not change afterwards
     * @throws DataException if it is empty or not UTF-8
     */
    public static Corpus ofText(String name, byte[] utf8, Tokenizer tokenizer) {
        DataFile.requireContent(name, utf8.length);
        MemorySegment text = DataFile.withoutMark(MemorySegment.ofArray(utf8));
        return new Corpus(Arena.ofShared(), switch (tokenizer) {
            case ByteTokenizer _ -> {
                TextTokens.requireUtf8(name, text);
                yield new Tokens(name, text, Byte.BYTES);
            }
            case Gpt2Tokenizer _,HuggingFaceTokenizer _ ->
                new Tokens(name, KeptIds.inMemory(sink -> document(name, text, tokenizer, sink)), Integer.BYTES);
        });
    }

    /**
     * Writes the tokens of text files as a file of tokens, which is a corpus of the same tokens: little-endian uint16, or,
     * for a larger vocabulary, uint32 after llm.c's header.
     *
     * @param progress receives the number of written tokens, repeatedly
     * @return the number of tokens
     * @throws DataException if the files are no text, or the new one exists already or cannot be written
     */
    public static long writeTokens(CorpusFiles files, Tokenizer tokenizer, Path target, LongConsumer progress) {
        requireText(files);
        String taken = target + " exists already; delete it, or choose another name";
        if (Files.exists(target)) {
            throw new DataException(taken);
        }
        boolean isWide = tokenizer.vocabularySize() > TWO_BYTE_IDS;
        try (IdFile ids = isWide
                ? new IdFile(target, TokenFile.HEADER_BYTES, Integer.BYTES)
                : new IdFile(target, 0, Short.BYTES)) {
            encode(files, tokenizer, (some, count) -> {
                ids.append(some, count);
                progress.accept(ids.count());
            });
            ids.create(isWide ? TokenFile.headerOfFourBytes(target.toString(), ids.count()) : ByteBuffer.allocate(0));
            return ids.count();
        } catch (FileAlreadyExistsException appeared) {
            throw new DataException(taken, appeared);
        } catch (IOException failure) {
            throw new DataException("cannot write " + target + ": " + FileReason.of(failure), failure);
        }
    }

    private static Tokens tokens(CorpusFiles files, int tokenBytes, Arena arena) {
        List<TokenFile> all = pieces(files, file -> DataFile.map(file, arena)).stream()
                .map(piece -> TokenFile.of(piece.name(), piece.ids(), tokenBytes)).toList();
        int idBytes = all.getFirst().idBytes();
        all.stream().filter(file -> file.idBytes() != idBytes).findFirst().ifPresent(other -> {
            throw new DataException("the files of a corpus must have tokens of one width, but " + all.getFirst().name()
                    + " has " + idBytes + " bytes a token and " + other.name() + " has " + other.idBytes());
        });
        return new Tokens(files.name(),
                all.stream().map(file -> new Tokens.Piece(file.name(), file.ids())).toList(), idBytes);
    }

    private static List<Tokens.Piece> pieces(CorpusFiles files, Function<Path, MemorySegment> mapped) {
        if (files.files().size() > MOST_MAPPED) {
            throw new DataException(files.name() + ": at most " + MOST_MAPPED
                    + " files can be read at once as they are; join them, for text with troupe tokenize");
        }
        return files.files().stream().map(file -> new Tokens.Piece(file.toString(), mapped.apply(file)))
                .toList();
    }

    private static Tokens text(CorpusFiles files, Tokenizer tokenizer, TokenCache cache, Arena arena) {
        return switch (tokenizer) {
            case ByteTokenizer _ -> {
                List<Tokens.Piece> pieces = pieces(files, file -> DataFile.mapText(file, arena));
                pieces.forEach(piece -> TextTokens.requireUtf8(piece.name(), piece.ids()));
                yield new Tokens(files.name(), pieces, Byte.BYTES);
            }
            case Gpt2Tokenizer _,HuggingFaceTokenizer _ -> new Tokens(files.name(), KeptIds.of(files,
                    "tokens of " + tokenizer.identity() + ", end of text between documents, 3", cache,
                    sink -> encode(files, tokenizer, sink), arena), Integer.BYTES);
        };
    }

    private static void encode(CorpusFiles files, Tokenizer tokenizer, IdSink sink) throws IOException {
        boolean isFirst = true;
        for (Path file : files.files()) {
            if (!isFirst && tokenizer.endOfText().isPresent()) {
                sink.append(new int[]{tokenizer.endOfText().getAsInt()});
            }
            isFirst = false;
            try (Arena own = Arena.ofShared()) {
                document(file.toString(), DataFile.mapText(file, own), tokenizer, sink);
            }
        }
    }

    private static void document(String name, MemorySegment text, Tokenizer tokenizer, IdSink sink) throws IOException {
        sink.append(tokenizer.beforeText());
        TextTokens.encode(name, text, tokenizer, sink);
        sink.append(tokenizer.afterText());
    }

    /**
     * Tokenizes each text file of a corpus.
     *
     * @param document receives the ids in parts, in order, and after each document an empty array
     * @throws DataException if the files are no text
     */
    public static void readDocuments(CorpusFiles files, Tokenizer tokenizer, Consumer<int[]> document) {
        requireText(files);
        for (Path file : files.files()) {
            try (Arena own = Arena.ofShared()) {
                document(file.toString(), DataFile.mapText(file, own), tokenizer,
                        (ids, count) -> {
                            if (count > 0) {
                                document.accept(Arrays.copyOf(ids, count));
                            }
                        });
                document.accept(new int[0]);
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
        }
    }

    private static void requireText(CorpusFiles files) {
        switch (files.kind()) {
            case TEXT -> {
            }
            case TOKENS ->
                throw new DataException(files.files().getFirst() + " holds tokens already; name text files");
            case DOCUMENTS -> throw documents(files);
        }
    }

    private static DataException documents(CorpusFiles files) {
        return new DataException(files.files().getFirst()
                + " holds documents, which become rows and no sequence of tokens; name text files");
    }

    /** Returns all tokens; valid until this corpus is closed. */
    public Tokens tokens() {
        return tokens;
    }

    @Override
    public void close() {
        arena.close();
    }
}
