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

    public Problem {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(origin, "origin");
        Objects.requireNonNull(expected, "expected");
        Objects.requireNonNull(found, "found");
        Objects.requireNonNull(hint, "hint");
    }

    /** Returns the problem as one sentence, which fits into one line. */
    public String sentence() {
        String place = key.isEmpty() ? origin : key + " (" + origin + ")";
        String advice = hint.isEmpty() ? "" : "; " + hint;
        String end = hint.endsWith("?") ? "" : ".";
        return place + ": expected " + expected + ", found " + found + advice + end;
    }
}
