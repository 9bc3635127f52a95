package dev.troupe.transport;

import java.time.Duration;

/**
 * Something that waits, for the diagnosis of a run that does not go on.
 *
 * @param edge
 *            where
 * @param state
 *            what it waits for
 * @param count
 *            how many messages or buffers of this edge are in that state
 * @param oldest
 *            the oldest of them, as text
 * @param waiting
 *            for how long the oldest has been waiting
 */
public record PendingTransfer(Edge edge, State state, int count, String oldest, Duration waiting) {
    /** What a transfer waits for. */
    public enum State {
        /** Messages that wait until the receiver grants a buffer. */
        SEND_WITHOUT_CREDIT,
        /** A message that has its credit and is on its way into the stream. */
        SENDING,
        /** Buffers that were granted and into which nothing has come yet. */
        BUFFER_NOT_FILLED,
        /** A buffer into which a part of a message has come. */
        LANDING
    }

    /** Such as {@code 2 SEND_WITHOUT_CREDIT for 12.3 s on rank 0 -> rank 1, stage 1, ACTIVATION (oldest: ...)}. */
    @Override
    public String toString() {
        return "%d %s for %.1f s on %s (oldest: %s)".formatted(count, state, waiting.toMillis() / 1000.0, edge, oldest);
    }
}
