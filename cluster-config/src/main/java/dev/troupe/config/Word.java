package dev.troupe.config;

import java.util.Arrays;
import java.util.Optional;

/** A choice that is written as one word in a configuration. */
public interface Word {
    /** Returns the word as a configuration spells it. */
    String word();

    /** Returns the choice of a word; empty where the word is none. */
    static <W extends Word> Optional<W> find(W[] choices, String word) {
        return Arrays.stream(choices).filter(choice -> choice.word().equals(word)).findFirst();
    }
}
