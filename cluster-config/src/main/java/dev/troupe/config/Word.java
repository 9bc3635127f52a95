package dev.troupe.config;

/** A choice that is written as one word in a configuration. */
public interface Word {
    /** Returns the word as a configuration spells it. */
    String word();
}
