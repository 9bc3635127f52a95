package dev.troupe.config.problem;

import java.util.Objects;

/**
 * One problem of a configuration.
 *
 * @param key path of the key without {@code troupe.}; empty if no single key is at fault
 * @param origin its place: a file with its line as {@code run.conf:7}, or {@code -s}
 * @param expected a description of right values
 * @param found the value that was found
 * @param hint the change that mends it; may be empty
 */
public record Problem(String key, String origin, String expected, String found, String hint) {
    /** Longer than any path or list that a person reads; a key or a value may be as long as its file. */
    private static final int LONGEST_PART = 1_000;

    public Problem {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(origin, "origin");
        Objects.requireNonNull(expected, "expected");
        Objects.requireNonNull(found, "found");
        Objects.requireNonNull(hint, "hint");
    }

    /** Returns the problem as one sentence, which fits into one line; a very long key or value is cut. */
    public String sentence() {
        String place = key.isEmpty() ? cut(origin) : cut(key) + " (" + cut(origin) + ")";
        String advice = hint.isEmpty() ? "" : "; " + cut(hint);
        String end = hint.endsWith("?") ? "" : ".";
        return place + ": expected " + cut(expected) + ", found " + cut(found) + advice + end;
    }

    private static String cut(String part) {
        return part.length() <= LONGEST_PART ? part : part.substring(0, LONGEST_PART) + "...";
    }
}
