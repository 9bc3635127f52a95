package dev.troupe.transport.aeron;

import dev.troupe.engine.Engine;
import dev.troupe.protocol.Edge;

/** The frames from one node. Belongs to the transport thread. */
interface Incoming {
    /** Receives some frames; returns their number, or another that is not 0. */
    int poll(Arrivals arrivals, int limit);

    /** Whether each frame wakes the thread. */
    default boolean wakes() {
        return false;
    }

    /** A buffer is granted for messages from the node. */
    default void expect(Edge edge, Engine engine) {
        // All that is to be known of it is known with the first message.
    }

    /** Whether a device copies to a buffer. */
    default boolean awaitsEngine() {
        return false;
    }

    /** Granted buffers are not written any more when this returns. */
    default void settle() {
        // Each payload is in its place when its frame is taken, or is refused from then on.
    }

    /** Ends the receipt of frames; closing twice has no effect. */
    default void close() {
        // It ends with the way to the node.
    }
}
