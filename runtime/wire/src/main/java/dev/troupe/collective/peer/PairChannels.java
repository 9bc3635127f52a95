package dev.troupe.collective.peer;

import java.util.OptionalInt;

/** The channels and connections between the members of a group, the same for all of them. */
@FunctionalInterface
public interface PairChannels {
    /** The channels of members that all share one media driver. */
    PairChannels ONE_MACHINE = (_, _) -> "aeron:ipc";

    /**
     * Returns the channel, such as {@code aeron:ipc} if both share a media driver, and
     * {@code aeron:udp?endpoint=host:port} of the receiver otherwise. Frames between machines have the same
     * size for all pairs.
     *
     * @param from the sender
     * @param to the receiver, another member
     */
    String channel(int from, int to);

    /** Returns the node of the receiver if the two have a connection instead; empty if they have the channel. */
    default OptionalInt connectedNode(int from, int to) {
        return OptionalInt.empty();
    }
}
