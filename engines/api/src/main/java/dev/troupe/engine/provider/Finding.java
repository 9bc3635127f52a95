package dev.troupe.engine.provider;

/**
 * A library that an engine looked for on this machine.
 *
 * @param what the library, in a word
 * @param isFound whether it is there
 * @param words where it was looked for, and what was found, for a person
 */
public record Finding(String what, boolean isFound, String words) {
}
