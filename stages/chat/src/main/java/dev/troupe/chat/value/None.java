package dev.troupe.chat.value;

/** Python's {@code None}. */
public enum None {
    NONE
}
