package dev.troupe.transport;

import dev.troupe.protocol.Edge;
import java.time.Duration;
import java.util.Locale;

/**
 * The waiting messages or buffers of an edge, for the diagnosis of a stalled run.
 *
 * @param count the number of messages or buffers of the edge in this state
 * @param oldest the oldest of them, as text
 * @param waiting the time for which the oldest has waited
 */
public record PendingTransfer(Edge edge, State state, int count, String oldest, Duration waiting) {
    /** The reason why a transfer waits. */
    public enum State {
        /** Messages without a credit. */
        SEND_WITHOUT_CREDIT,
        /** A message with credit, while its engine still computes the tensor. */
        NOT_COMPUTED,
        /** A message with a credit that is being sent. */
        SENDING,
        /** Granted buffers that the engine still uses. */
        BUFFER_IN_USE,
        /** Granted buffers that are still empty. */
        BUFFER_NOT_FILLED,
        /** A buffer with a part of a message. */
        LANDING
    }

    /** Such as {@code 2 SEND_WITHOUT_CREDIT for 12.3 s on rank 0 -> rank 1, stage 1, ACTIVATION (oldest: ...)}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d %s for %.1f s on %s (oldest: %s)", count, state,
                waiting.toMillis() / 1000.0, edge, oldest);
    }
}
