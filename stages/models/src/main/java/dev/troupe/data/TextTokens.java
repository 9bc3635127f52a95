package dev.troupe.data;

import dev.troupe.tokenizer.ByteTokenizer;
import dev.troupe.tokenizer.Gpt2Tokenizer;
import dev.troupe.tokenizer.HuggingFaceTokenizer;
import dev.troupe.tokenizer.Tokenizer;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/**
 * Tokens of UTF-8 text of any size. A byte-pair encoding is applied piece by piece, by a thread for each core, in bounded
 * memory. A cut between pieces does not change the tokens of the text.
 */
final class TextTokens {
    /** The sizes of a piece: large enough to keep a core busy for milliseconds, small enough to divide a small text. */
    private static final Sizes SIZES = new Sizes(1 << 17, 1 << 17, 1 << 24);
    private static final int PIECES_PER_THREAD = 4;
    private static final int LONGEST_CHARACTER_BYTES = 4;

    private TextTokens() {
    }

    /**
     * The sizes of a piece.
     *
     * @param readBytes of the text to decode; at least the 4 that one character may have
     * @param pieceChars to encode, about
     * @param longestPieceChars the most characters of a piece; longer text without a place to cut is cut anywhere, since
     *     bounded memory is more important than exactness
     */
    record Sizes(int readBytes, int pieceChars, int longestPieceChars) {
    }

    /**
     * Encodes a text.
     *
     * @param name for messages
     * @throws DataException if it is not UTF-8
     * @throws IOException of the sink
     */
    static void encode(String name, MemorySegment utf8, Tokenizer tokenizer, IdSink sink) throws IOException {
        encode(name, utf8, tokenizer, sink, SIZES);
    }

    static void encode(String name, MemorySegment utf8, Tokenizer tokenizer, IdSink sink, Sizes sizes)
            throws IOException {
        switch (tokenizer) {
            case ByteTokenizer _ -> {
                requireUtf8(name, utf8);
                bytes(utf8, sink);
            }
            case Gpt2Tokenizer _,HuggingFaceTokenizer _ -> {
                try (Encoders encoders = new Encoders(tokenizer, sink)) {
                    Pieces pieces = new Pieces(tokenizer, sizes, encoders::encode);
                    long wrong = decode(utf8, 0, utf8.byteSize(), sizes.readBytes(), pieces::append);
                    if (wrong >= 0) {
                        throw notUtf8(name, utf8, wrong);
                    }
                    pieces.flush();
                    encoders.drain(0);
                }
            }
        }
    }

    private static void bytes(MemorySegment utf8, IdSink sink) throws IOException {
        int[] ids = new int[SIZES.readBytes()];
        for (long from = 0; from < utf8.byteSize(); from += ids.length) {
            int count = (int) Math.min(ids.length, utf8.byteSize() - from);
            for (int i = 0; i < count; i++) {
                ids[i] = Byte.toUnsignedInt(utf8.get(ValueLayout.JAVA_BYTE, from + i));
            }
            sink.append(ids, count);
        }
    }

    /**
     * Checks that a text is UTF-8, with a thread for each core.
     *
     * @throws DataException with the first byte that is not
     */
    static void requireUtf8(String name, MemorySegment utf8) {
        requireUtf8(name, utf8, 1 << 24);
    }

    static void requireUtf8(String name, MemorySegment utf8, int blockBytes) {
        LongStream.range(0, Math.ceilDiv(utf8.byteSize(), blockBytes)).parallel().map(block -> {
            long from = characterBegin(utf8, block * blockBytes);
            long to = characterBegin(utf8, Math.min(utf8.byteSize(), (block + 1) * blockBytes));
            try {
                return decode(utf8, from, to, SIZES.readBytes(), _ -> {
                });
            } catch (IOException impossible) {
                throw new IllegalStateException("nothing is written", impossible);
            }
        }).filter(position -> position >= 0).findFirst().ifPresent(position -> {
            throw notUtf8(name, utf8, position);
        });
    }

    /** Returns the position, or the beginning of the character that it is inside of. */
    private static long characterBegin(MemorySegment utf8, long position) {
        long begin = position;
        while (begin < utf8.byteSize() && begin > Math.max(0, position - LONGEST_CHARACTER_BYTES + 1)
                && (utf8.get(ValueLayout.JAVA_BYTE, begin) & 0xC0) == 0x80) {
            begin--;
        }
        return begin;
    }

    /** A receiver of pieces of text. */
    private interface Sink<T> {
        void take(T part) throws IOException;
    }

    /** Decodes a part of the text for a sink; returns the place of the first byte that is not UTF-8, or -1. */
    private static long decode(MemorySegment utf8, long from, long to, int readBytes, Sink<CharBuffer> sink)
            throws IOException {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        CharBuffer characters = CharBuffer.allocate(readBytes);
        long position = from;
        boolean last;
        do {
            long count = Math.min(readBytes, to - position);
            last = position + count == to;
            ByteBuffer bytes = utf8.asSlice(position, count).asByteBuffer();
            CoderResult result = decoder.decode(bytes, characters, last);
            position += bytes.position();
            if (result.isError()) {
                return position;
            }
            sink.take(characters.flip());
            characters.clear();
        } while (!last);
        return -1;
    }

    private static DataException notUtf8(String name, MemorySegment utf8, long position) {
        long line = 1;
        for (long i = 0; i < position; i++) {
            if (utf8.get(ValueLayout.JAVA_BYTE, i) == '\n') {
                line++;
            }
        }
        return new DataException(
                String.format(Locale.ROOT,
                        "%s must be UTF-8 text, but byte 0x%02x at offset %d (line %d) is not; convert it to UTF-8",
                        name, utf8.get(ValueLayout.JAVA_BYTE, position), position, line));
    }

    /** The parallel encoding of pieces, with their ids in the order of the text. */
    private static final class Encoders implements AutoCloseable {
        private final Tokenizer tokenizer;
        private final IdSink sink;
        private final int threads = Runtime.getRuntime().availableProcessors();
        private final ExecutorService executor = Executors.newFixedThreadPool(threads,
                Thread.ofPlatform().name("tokenizer-", 0).daemon().factory());
        private final Deque<Future<int[]>> inProgress = new ArrayDeque<>();

        Encoders(Tokenizer tokenizer, IdSink sink) {
            this.tokenizer = tokenizer;
            this.sink = sink;
        }

        void encode(String piece) throws IOException {
            inProgress.add(executor.submit(() -> tokenizer.encode(piece)));
            drain(PIECES_PER_THREAD * threads);
        }

        /** Waits until at most {@code most} pieces are in progress. */
        void drain(int most) throws IOException {
            while (inProgress.size() > most) {
                try {
                    sink.append(inProgress.remove().get());
                } catch (ExecutionException failure) {
                    if (failure.getCause() instanceof TokenizerException refused) {
                        throw refused;
                    }
                    throw new IllegalStateException("a tokenizer takes every text", failure.getCause());
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    throw new DataException("the text was not tokenized to its end: the thread was interrupted");
                }
            }
        }

        @Override
        public void close() {
            executor.shutdownNow();
        }
    }

    private static final class Pieces {
        private final Tokenizer tokenizer;
        private final Sizes sizes;
        private final Sink<String> sink;
        private final StringBuilder pending = new StringBuilder();

        Pieces(Tokenizer tokenizer, Sizes sizes, Sink<String> sink) {
            this.tokenizer = tokenizer;
            this.sizes = sizes;
            this.sink = sink;
        }

        void append(CharBuffer characters) throws IOException {
            pending.append(characters);
            if (pending.length() < sizes.pieceChars()) {
                return;
            }
            int end = lastWordEnd();
            if (end == 0 && pending.length() >= sizes.longestPieceChars()) {
                // Half of a surrogate pair would not be a character.
                end = Character.isHighSurrogate(pending.charAt(pending.length() - 1))
                        ? pending.length() - 1
                        : pending.length();
            }
            if (end > 0) {
                sink.take(pending.substring(0, end));
                pending.delete(0, end);
            }
        }

        void flush() throws IOException {
            if (!pending.isEmpty()) {
                sink.take(pending.toString());
                pending.setLength(0);
            }
        }

        private int lastWordEnd() {
            for (int end = pending.length() - 1; end > 0; end--) {
                if (tokenizer.mayCut(pending.charAt(end - 1), pending.charAt(end))) {
                    return end;
                }
            }
            return 0;
        }
    }
}
