package dev.troupe.config.problem;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** A choice that is written as one word in a configuration. */
public interface Word {
    /** Returns the word as a configuration spells it. */
    String word();

    /** Returns the choice of a word; empty if there is none. */
    static <W extends Word> Optional<W> find(W[] choices, String word) {
        return Arrays.stream(choices).filter(choice -> choice.word().equals(word)).findFirst();
    }

    /** Returns the advice for a word that is none of the choices: the nearest choices; empty if none is near. */
    static String advice(Word[] choices, String word) {
        Set<String> words = Arrays.stream(choices).map(Word::word).collect(Collectors.toCollection(TreeSet::new));
        List<String> near = KnownKeys.nearest(word, words, wanted -> KnownKeys.distance(word, wanted));
        return near.isEmpty() ? "" : KnownKeys.didYouMean(near);
    }
}
