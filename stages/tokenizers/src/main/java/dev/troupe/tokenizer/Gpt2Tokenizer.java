package dev.troupe.tokenizer;

import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import com.knuddels.jtokkit.api.IntArrayList;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/** The published byte-pair encoding of GPT-2 (jtokkit's {@code r50k_base}). */
public final class Gpt2Tokenizer implements Tokenizer {
    static final String NAME = "gpt2";
    private static final int END_OF_TEXT = 50256;
    private static final int VOCABULARY_SIZE = END_OF_TEXT + 1;
    private static final byte NO_CHARACTER = (byte) 0xFF;

    private final Encoding encoding = Encodings.newLazyEncodingRegistry().getEncoding(EncodingType.R50K_BASE);

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
        return OptionalInt.of(END_OF_TEXT);
    }

    @Override
    public int[] encode(String text) {
        return encoding.encodeOrdinary(text).toArray();
    }

    @Override
    public String decode(int[] ids) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        IntArrayList known = new IntArrayList();
        for (int id : ids) {
            if (id >= 0 && id < VOCABULARY_SIZE) {
                known.add(id);
            } else {
                bytes.writeBytes(encoding.decodeBytes(known));
                bytes.write(NO_CHARACTER);
                known.clear();
            }
        }
        bytes.writeBytes(encoding.decodeBytes(known));
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** GPT-2's pattern ends a word before white space that follows a letter, mark, number, punctuation or symbol. */
    @Override
    public boolean mayCut(char before, char after) {
        return (after == '\n' || after == ' ') && endsWord(before);
    }

    /** Returns whether a character is not white space by any rule; half of a surrogate pair never is. */
    private static boolean endsWord(char character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL, Character.FORMAT, Character.PRIVATE_USE, Character.UNASSIGNED,
                    Character.SPACE_SEPARATOR, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                false;
            case Character.SURROGATE -> Character.isLowSurrogate(character);
            default -> true;
        };
    }
}
