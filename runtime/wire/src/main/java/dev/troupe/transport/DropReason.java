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
    /** A field that no sender writes: unknown kind, type, dimension, size, count, or offsets beyond the message. */
    BAD_FIELD,
    /** The rank is not of this world, not of this node, or has no listener. */
    UNKNOWN_RANK,
    /** The frame is of an epoch before the present one. */
    OLD_EPOCH,
    /** The frame is of an epoch that this node has not reached, so that it cannot have granted a buffer for it. */
    FUTURE_EPOCH,
    /** The receiver granted no buffer for this message: a sender went beyond its credit. */
    NO_BUFFER,
    /** Type, shape or length differ from the granted buffer. */
    WRONG_SHAPE,
    /** A fragment or a message that does not continue the one before it: frames between were lost, or it arrived twice. */
    OUT_OF_ORDER,
    /** The engine could not write the payload into the buffer. */
    LANDING_FAILED
}
