package dev.troupe.config.value;

import java.util.regex.Pattern;

/** The kinds of text that several keys accept. */
public enum Texts {
    /** A name that can be part of a file's name. */
    NAME("[A-Za-z0-9][A-Za-z0-9._-]{0,63}", Texts.LETTERS),
    /** A name, or nothing. */
    NAME_OR_NONE("|[A-Za-z0-9][A-Za-z0-9._-]{0,63}", Texts.LETTERS),
    /** The name of an engine. */
    ENGINE("(?s).*\\S.*", "auto or the name of an engine"),
    /** A device of a machine. */
    DEVICE("round-robin|\\d{1,4}", "round-robin or the number of a device, from 0");

    /** Any text but none and blanks. */
    public static final Pattern NOT_EMPTY = Pattern.compile("(?s).*\\S.*");
    private static final String LETTERS = "at most 64 letters, digits, '.', '_' and '-', the first a letter or digit";

    private final Pattern pattern;
    private final String expected;

    Texts(String pattern, String expected) {
        this.pattern = Pattern.compile(pattern);
        this.expected = expected;
    }

    Pattern pattern() {
        return pattern;
    }

    String expected() {
        return expected;
    }
}
