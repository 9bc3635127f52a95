package dev.troupe.collective.aeron;

/** The Aeron channel on which a member of a group sends to another. */
@FunctionalInterface
public interface PairChannels {
    /** The channels of members that all share one media driver. */
    PairChannels ONE_MACHINE = (_, _) -> "aeron:ipc";

    /**
     * Returns the channel, such as {@code aeron:ipc} where both share a media driver, and
     * {@code aeron:udp?endpoint=host:port} of the receiver where they do not. Frames between machines have the same
     * size for all pairs.
     *
     * @param from
     *            the sender
     * @param to
     *            the receiver, another member
     */
    String channel(int from, int to);
}
