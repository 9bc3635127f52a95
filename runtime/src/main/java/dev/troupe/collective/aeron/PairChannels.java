package dev.troupe.collective.aeron;

/** Names the Aeron channel on which a member of a group sends to another. */
@FunctionalInterface
public interface PairChannels {
    /** All share one media driver. */
    PairChannels ONE_MACHINE = (_, _) -> "aeron:ipc";

    /**
     * The channel, such as {@code aeron:ipc} where both share a media driver, and {@code aeron:udp?endpoint=host:port} of
     * the one that receives where they do not. Frames between machines have one size, whichever they are between.
     *
     * @param from
     *            the one that sends
     * @param to
     *            another, which receives
     */
    String channel(int from, int to);
}
