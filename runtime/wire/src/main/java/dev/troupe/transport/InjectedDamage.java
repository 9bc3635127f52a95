package dev.troupe.transport;

/** The damage that a fault does to a message on its way. */
public enum InjectedDamage {
    /** The message arrives as it was sent. */
    NONE,
    /** The receiver's checksum refuses every frame of the message. */
    DAMAGED,
    /** No frame of the message leaves, and the sender does not notice. */
    LOST
}
