package dev.troupe.engine.provider;

/**
 * The result of an engine's search for a library on this machine.
 *
 * @param words the places searched and the result, for a person
 */
public record Finding(String what, boolean isFound, String words) {
}
