package dev.troupe.transport;

import dev.troupe.protocol.Edge;
import java.time.Duration;
import java.util.Locale;

/**
 * Messages or buffers of an edge that wait, for the diagnosis of a stalled run.
 *
 * @param state the reason of the wait
 * @param count how many messages or buffers of this edge are in that state
 * @param oldest the oldest of them, as text
 * @param waiting for how long the oldest has been waiting
 */
public record PendingTransfer(Edge edge, State state, int count, String oldest, Duration waiting) {
    /** The reason why a transfer waits. */
    public enum State {
        /** Messages that wait until the receiver grants a buffer. */
        SEND_WITHOUT_CREDIT,
        /** A message with credit, while its engine still computes the tensor. */
        NOT_COMPUTED,
        /** A message that has its credit and is on its way into the stream. */
        SENDING,
        /** Granted buffers that the engine still uses. */
        BUFFER_IN_USE,
        /** Granted buffers that are still empty. */
        BUFFER_NOT_FILLED,
        /** A buffer that holds a part of a message. */
        LANDING
    }

    /** Such as {@code 2 SEND_WITHOUT_CREDIT for 12.3 s on rank 0 -> rank 1, stage 1, ACTIVATION (oldest: ...)}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d %s for %.1f s on %s (oldest: %s)", count, state,
                waiting.toMillis() / 1000.0, edge, oldest);
    }
}
