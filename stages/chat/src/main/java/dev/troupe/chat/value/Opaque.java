package dev.troupe.chat.value;

/** A value of Jinja's own, such as a macro or the state of a loop, with named attributes for templates. */
public interface Opaque {
    /** Returns an attribute; {@code null} if there is none. */
    default Object attribute(String name) {
        return null;
    }

    /** Returns its printed text; {@code null} if Python's would have an address. */
    default String printed() {
        return null;
    }
}
