package dev.troupe.collective.peer;

import java.util.OptionalInt;

/** The channels or connections between each two members of a group, the same for all members. */
@FunctionalInterface
public interface PairChannels {
    /** The channels of members that share one media driver. */
    PairChannels ONE_MACHINE = (_, _) -> "aeron:ipc";

    /**
     * Returns the channel, such as {@code aeron:ipc} within one media driver, and {@code aeron:udp?endpoint=host:port} of
     * the receiver otherwise. Frames between machines have the same size for all pairs.
     *
     * @param to the receiver, another member
     */
    String channel(int from, int to);

    /** Returns the receiver's node if the pair has a connection instead of a channel; otherwise empty. */
    default OptionalInt connectedNode(int from, int to) {
        return OptionalInt.empty();
    }
}
