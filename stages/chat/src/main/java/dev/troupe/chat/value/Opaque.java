package dev.troupe.chat.value;

/**
 * A value of Jinja's own, such as a macro or the state of a loop, of which a template sees the attributes that it
 * names.
 */
public interface Opaque {
    /** An attribute; {@code null} if there is none. */
    default Object attribute(String name) {
        return null;
    }

    /** The text that it prints as; {@code null} if Python's would have an address. */
    default String printed() {
        return null;
    }
}
