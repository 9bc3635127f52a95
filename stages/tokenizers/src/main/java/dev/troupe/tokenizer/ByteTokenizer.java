package dev.troupe.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/** One token per UTF-8 byte. */
public final class ByteTokenizer implements Tokenizer {
    static final String NAME = "bytes";
    private static final int VOCABULARY_SIZE = 256;
    // No byte of UTF-8 has this value, so a decoder puts U+FFFD in its place.
    private static final byte NO_CHARACTER = (byte) 0xFF;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public int vocabularySize() {
        return VOCABULARY_SIZE;
    }

    @Override
    public OptionalInt endOfText() {
        return OptionalInt.empty();
    }

    @Override
    public int[] encode(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int[] ids = new int[bytes.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = Byte.toUnsignedInt(bytes[i]);
        }
        return ids;
    }

    @Override
    public String decode(int[] ids) {
        byte[] bytes = new byte[ids.length];
        for (int i = 0; i < ids.length; i++) {
            bytes[i] = ids[i] >= 0 && ids[i] < VOCABULARY_SIZE ? (byte) ids[i] : NO_CHARACTER;
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public boolean mayCut(char before, char after) {
        return true;
    }
}
