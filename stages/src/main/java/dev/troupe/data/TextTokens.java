package dev.troupe.data;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Tokens of UTF-8 text of any size. A byte-pair encoding is applied to a piece of text at a time, so that memory stays
 * bounded. Pieces end before white space that follows a letter, digit or mark, where GPT-2's pattern ends a word too:
 * the tokens are those of the whole text.
 */
final class TextTokens {
    private static final Sizes SIZES = new Sizes(1 << 20, 1 << 20, 1 << 24);

    private TextTokens() {
    }

    /**
     * How much is taken at a time.
     *
     * @param readBytes
     *            of the text to decode; at least the 4 that one character may have
     * @param pieceChars
     *            to encode, about
     * @param longestPieceChars
     *            where text has no place to end a piece for so long, it is cut anywhere: memory goes before exactness
     */
    record Sizes(int readBytes, int pieceChars, int longestPieceChars) {
    }

    /**
     * Encodes a text.
     *
     * @param name
     *            for messages
     * @param utf8
     *            the tokens refer to it where each byte is one
     * @throws DataException
     *             where it is not UTF-8
     */
    static Tokens encode(String name, MemorySegment utf8, Tokenizer tokenizer) {
        return encode(name, utf8, tokenizer, SIZES);
    }

    static Tokens encode(String name, MemorySegment utf8, Tokenizer tokenizer, Sizes sizes) {
        return switch (tokenizer) {
            case ByteTokenizer _ -> {
                decode(name, utf8, sizes.readBytes(), _ -> {
                });
                yield new Tokens(name, utf8, Byte.BYTES);
            }
            case Gpt2Tokenizer gpt2 -> {
                IdBuffer ids = new IdBuffer();
                Pieces pieces = new Pieces(sizes, piece -> ids.append(gpt2.encode(piece)));
                decode(name, utf8, sizes.readBytes(), pieces::append);
                pieces.flush();
                yield new Tokens(name, ids.segment(), Short.BYTES);
            }
        };
    }

    private static void decode(String name, MemorySegment utf8, int readBytes, Consumer<CharBuffer> sink) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        CharBuffer characters = CharBuffer.allocate(readBytes);
        long position = 0;
        boolean last;
        do {
            long count = Math.min(readBytes, utf8.byteSize() - position);
            last = position + count == utf8.byteSize();
            ByteBuffer bytes = utf8.asSlice(position, count).asByteBuffer();
            CoderResult result = decoder.decode(bytes, characters, last);
            position += bytes.position();
            if (result.isError()) {
                throw notUtf8(name, utf8, position);
            }
            sink.accept(characters.flip());
            characters.clear();
        } while (!last);
    }

    private static DataException notUtf8(String name, MemorySegment utf8, long position) {
        long line = 1;
        for (long i = 0; i < position; i++) {
            if (utf8.get(ValueLayout.JAVA_BYTE, i) == '\n') {
                line++;
            }
        }
        return new DataException(
                "%s must be UTF-8 text, but byte 0x%02x at offset %d (line %d) is not; convert it to UTF-8"
                        .formatted(name, utf8.get(ValueLayout.JAVA_BYTE, position), position, line));
    }

    /** Gathers text and hands it on in pieces. */
    private static final class Pieces {
        private final Sizes sizes;
        private final Consumer<String> sink;
        private final StringBuilder pending = new StringBuilder();

        Pieces(Sizes sizes, Consumer<String> sink) {
            this.sizes = sizes;
            this.sink = sink;
        }

        void append(CharBuffer characters) {
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
                sink.accept(pending.substring(0, end));
                pending.delete(0, end);
            }
        }

        void flush() {
            if (!pending.isEmpty()) {
                sink.accept(pending.toString());
                pending.setLength(0);
            }
        }

        private int lastWordEnd() {
            for (int end = pending.length() - 1; end > 0; end--) {
                char after = pending.charAt(end);
                char before = pending.charAt(end - 1);
                if ((after == '\n' || after == ' ')
                        && (before > ' ' && before < 0x7F || Character.isLetterOrDigit(before))) {
                    return end;
                }
            }
            return 0;
        }
    }
}
