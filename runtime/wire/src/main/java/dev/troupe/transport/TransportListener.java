package dev.troupe.transport;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;

/**
 * The events that a transport reports to a rank. Every method is called on the transport thread, one call at a time: it
 * passes the event on (to an actor, a queue) and returns, and never blocks. It may call {@link Transport#send} and
 * {@link Transport#grant}. An exception out of it is logged and otherwise ignored.
 */
public interface TransportListener {
    /**
     * A whole message is at the beginning of a buffer that this rank granted; the buffer belongs to the rank again. The
     * transport does not know how many rows a message should have, and the checksum of the frames is the only protection of
     * the id: the rank compares both with its plan.
     *
     * @param rows the first size of the message's shape, at most the buffer's; all others are the buffer's
     */
    void onLanded(MessageId id, Tensor tensor, int rows);

    /**
     * A tensor that this rank sent has been read to its end, after its message had no credit for {@code creditNanos}; it
     * belongs to the rank again.
     */
    void onSent(MessageId id, Tensor tensor, long creditNanos);

    /**
     * A buffer was not filled, or a tensor not (wholly) sent, because the epoch grew, the transport is closing or the
     * tensor could not be read; it belongs to the rank again.
     */
    void onReturned(Edge edge, Tensor tensor);

    /**
     * An epoch has begun: messages that land from now on are of it, and the transport returns every buffer and tensor that
     * it still held for this rank right after this call. A listener that is registered after the first epoch receives the
     * present one at once.
     */
    default void onEpoch(int epoch) {
    }

    /** See {@link TransportFault}. */
    void onFault(TransportFault fault);
}
