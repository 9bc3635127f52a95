package dev.troupe.transport;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;

/**
 * The receiver of a rank's transport events. Each method is called on the transport thread, one call at a time. It passes
 * the event on (to an actor, a queue), never blocks, and may call {@link Transport#send} and {@link Transport#grant}. An
 * exception from it is logged and otherwise ignored.
 */
public interface TransportListener {
    /**
     * A message is complete, at the beginning of a granted buffer, which belongs to the rank again. The rank must compare id
     * and rows with its plan: the transport does not know them, and only a checksum protects them.
     *
     * @param rows the first size of the message's shape, at most the buffer's; its other sizes equal the buffer's
     */
    void onLanded(MessageId id, Tensor tensor, int rows);

    /**
     * A tensor has been sent, after its message waited {@code creditNanos} for a credit; the tensor belongs to the rank
     * again.
     */
    void onSent(MessageId id, Tensor tensor, long creditNanos);

    /**
     * A buffer was not filled, or a tensor not completely sent, since an epoch began, the transport closes or the tensor is
     * unreadable; it belongs to the rank again.
     */
    void onReturned(Edge edge, Tensor tensor);

    /**
     * An epoch has begun: later messages are of this epoch, and right after this call the transport returns every buffer and
     * tensor of the rank. A listener that is registered later receives the current epoch at once.
     */
    default void onEpoch(int epoch) {
    }

    /** Reports a fault. */
    void onFault(TransportFault fault);
}
