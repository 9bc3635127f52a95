package dev.troupe.transport.link;

import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import java.util.Optional;

/** The frames of a node, or of this process, on a stream that also carries payloads. Belongs to the transport thread. */
final class IncomingStream implements Link.Incoming {
    private final int node;
    private final Subscription subscription;
    private final Optional<HandOvers> handOvers;
    // Created once, since a new object for each poll would be garbage.
    private FragmentHandler handler;

    /** @param handOvers the payloads of this process to itself; empty for a node of another machine */
    IncomingStream(int node, Subscription subscription, Optional<HandOvers> handOvers) {
        this.node = node;
        this.subscription = subscription;
        this.handOvers = handOvers;
    }

    @Override
    public int poll(Arrivals frames, int limit) {
        if (handler == null) {
            HandOvers own = handOvers.orElse(null);
            handler = (buffer, offset, length, header) -> frames.onFrame(node, buffer, offset, length,
                    own == null ? null : own.read(header.sessionId(), header.reservedValue()));
        }
        return subscription.poll(handler, limit);
    }

    @Override
    public void close() {
        subscription.close();
    }
}
