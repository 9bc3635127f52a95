package dev.troupe.tokenizer;

import dev.troupe.tokenizer.file.TokenizerException;
import java.nio.file.Path;
import java.util.OptionalInt;

/** The conversion of text into token ids and back. Any thread may call it. */
public sealed interface Tokenizer permits ByteTokenizer, Gpt2Tokenizer, HuggingFaceTokenizer {
    /** Returns the token that ends a document, if there is one. */
    OptionalInt endOfText();

    /** Returns the argument of {@link #named}: a word, or the absolute path of a directory. */
    String name();

    /**
     * Returns a text that is equal for two tokenizers only if they give the same ids for every text; the name if that
     * suffices.
     */
    default String identity() {
        return name();
    }

    /** Returns one more than the largest id. */
    int vocabularySize();

    /**
     * Returns the ids of a text, which fits in memory. A tokenizer with added or special tokens finds them by their
     * spelling; {@code bytes} and {@code gpt2} treat these as ordinary text.
     */
    int[] encode(String text);

    /** Returns the special tokens before a whole text, such as one that begins a document; empty if there are none. */
    default int[] beforeText() {
        return new int[0];
    }

    /** As {@link #beforeText}, after a whole text. */
    default int[] afterText() {
        return new int[0];
    }

    /** Returns the text of some ids. Incomplete characters and unknown ids become U+FFFD. */
    String decode(int[] ids);

    /** Returns whether a cut between these characters never changes the ids of a text; false if unknown. */
    boolean mayCut(char before, char after);

    /** As {@link #named(String, boolean)}, without special tokens around a text. */
    static Tokenizer named(String name) {
        return named(name, false);
    }

    /**
     * Returns the tokenizer of a name.
     *
     * @param name {@code bytes}, {@code gpt2}, or a directory with a {@code tokenizer.json}
     * @param addsSpecialTokens whether {@link #beforeText} and {@link #afterText} return the tokens of the directory's
     *     post-processor; if not, they are empty
     * @throws TokenizerException if there is none, or it cannot be used
     */
    static Tokenizer named(String name, boolean addsSpecialTokens) {
        return switch (name) {
            case ByteTokenizer.NAME -> new ByteTokenizer();
            case Gpt2Tokenizer.NAME -> new Gpt2Tokenizer();
            default -> {
                if (!HuggingFaceTokenizer.isIn(Path.of(name))) {
                    throw new TokenizerException("the tokenizer must be " + ByteTokenizer.NAME + ", "
                            + Gpt2Tokenizer.NAME + " or a directory with a " + HuggingFaceTokenizer.FILE
                            + ", but found \"" + name + "\"");
                }
                yield HuggingFaceTokenizer.open(Path.of(name), addsSpecialTokens);
            }
        };
    }
}
