package dev.troupe.transport;

/** What becomes of a message on its way, for those who want to see what comes of it. */
public enum InjectedDamage {
    /** It comes as it was sent. */
    NONE,
    /** The receiver's checksum refuses every frame of it. */
    DAMAGED,
    /** No frame of it leaves, and its sender takes it for sent. */
    LOST
}
