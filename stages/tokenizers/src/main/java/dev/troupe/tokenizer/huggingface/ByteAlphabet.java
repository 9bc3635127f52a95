package dev.troupe.tokenizer.huggingface;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The alphabet of bytes in byte-level vocabularies: visible Latin-1 characters represent themselves, and the other bytes, in
 * order, are U+0100 and up.
 */
public final class ByteAlphabet {
    private static final int BYTES = 256;
    private static final char[] LETTERS = letters();
    private static final short[] BYTE_OF = bytes();

    private ByteAlphabet() {
    }

    private static char[] letters() {
        char[] letters = new char[BYTES];
        char next = BYTES;
        for (int value = 0; value < BYTES; value++) {
            boolean isSeen = value >= '!' && value <= '~' || value >= 0xA1 && value <= 0xAC || value >= 0xAE;
            letters[value] = isSeen ? (char) value : next++;
        }
        return letters;
    }

    private static short[] bytes() {
        char last = 0;
        for (char letter : LETTERS) {
            last = (char) Math.max(last, letter);
        }
        short[] bytes = new short[last + 1];
        Arrays.fill(bytes, (short) -1);
        for (int value = 0; value < BYTES; value++) {
            bytes[LETTERS[value]] = (short) value;
        }
        return bytes;
    }

    /** Returns the letter of a byte, 0 to 255. */
    public static char letter(int value) {
        return LETTERS[value];
    }

    /** Returns the bytes of a word of the alphabet; for other text its UTF-8 bytes. */
    static byte[] bytesOf(String word) {
        byte[] bytes = new byte[word.length()];
        for (int i = 0; i < bytes.length; i++) {
            char letter = word.charAt(i);
            if (letter >= BYTE_OF.length || BYTE_OF[letter] < 0) {
                return word.getBytes(StandardCharsets.UTF_8);
            }
            bytes[i] = (byte) BYTE_OF[letter];
        }
        return bytes;
    }
}
