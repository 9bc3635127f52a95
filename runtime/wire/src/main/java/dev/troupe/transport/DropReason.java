package dev.troupe.transport;

/** The reasons to drop a received frame. Each is counted in {@link TransportCounters}. */
public enum DropReason {
    /** Shorter than its header, or too long. */
    BAD_LENGTH,
    /** The first four bytes are not Troupe's. */
    BAD_MAGIC,
    /** Another version of the frame format, or another template. */
    BAD_VERSION,
    /** The CRC32C over the header, and the payload from another machine, does not match. */
    BAD_CHECKSUM,
    /** A field that no sender writes: an unknown kind, type or dimension, or a size, count or offset out of range. */
    BAD_FIELD,
    /** The rank is not of this run, not on this node, or has no listener. */
    UNKNOWN_RANK,
    /** The frame is of an earlier epoch. */
    OLD_EPOCH,
    /** The frame is of an epoch that has not begun on this node, so no buffer is granted for it. */
    FUTURE_EPOCH,
    /** The receiver granted no buffer for this message, so the sender had no credit. */
    NO_BUFFER,
    /** Type, shape or length differ from the granted buffer. */
    WRONG_SHAPE,
    /** A fragment or message that does not continue the one before it: frames were lost or repeated. */
    OUT_OF_ORDER,
    /** The engine could not write the payload into the buffer. */
    LANDING_FAILED
}
