package dev.troupe.data;

import java.util.OptionalInt;

/** Turns text into token ids and back. Any thread may call it. */
public sealed interface Tokenizer permits ByteTokenizer, Gpt2Tokenizer {
    /** The token that ends a document, where there is one. */
    OptionalInt endOfText();

    /** The name that {@link #named} takes. */
    String name();

    /** One more than the largest id. */
    int vocabularySize();

    /**
     * The ids of a text, which fits in memory. Special tokens are not recognised: their spelling is text like any
     * other.
     */
    int[] encode(String text);

    /** The text of some ids. What is no whole character, or an id that there is not, becomes U+FFFD. */
    String decode(int[] ids);

    /**
     * The tokenizer of that name, {@code bytes} or {@code gpt2}.
     *
     * @throws DataException
     *             where there is none
     */
    static Tokenizer named(String name) {
        return switch (name) {
            case ByteTokenizer.NAME -> new ByteTokenizer();
            case Gpt2Tokenizer.NAME -> new Gpt2Tokenizer();
            default ->
                throw new DataException("the tokenizer must be " + ByteTokenizer.NAME + " or " + Gpt2Tokenizer.NAME
                        + ", but found \"" + name + "\"");
        };
    }
}
