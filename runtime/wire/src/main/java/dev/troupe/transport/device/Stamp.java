package dev.troupe.transport.device;

import dev.troupe.wire.RingPositions;

/**
 * The reserved value of a frame with its payload in a ring of a device: the number of the ring, and the position after the
 * payload. It is negative, unlike a position alone.
 */
public final class Stamp {
    /** The most rings of one stream. */
    static final int MOST_RINGS = 1 << 15;
    private static final int POSITION_BITS = 48;
    private static final long POSITION = (1L << POSITION_BITS) - 1;

    private Stamp() {
    }

    static long of(int number, long end) {
        return Long.MIN_VALUE | (long) number << POSITION_BITS | end / RingPositions.UNIT_BYTES & POSITION;
    }

    public static boolean isStamp(long value) {
        return value < 0;
    }

    static int number(long stamp) {
        return (int) (stamp >>> POSITION_BITS) & MOST_RINGS - 1;
    }

    /**
     * Returns the position after the payload, which the stamp holds modulo 2^48 units.
     *
     * @param before a position before it, a multiple of {@link RingPositions#UNIT_BYTES}
     */
    static long end(long stamp, long before) {
        long units = before / RingPositions.UNIT_BYTES;
        return (units + (stamp - units & POSITION)) * RingPositions.UNIT_BYTES;
    }
}
