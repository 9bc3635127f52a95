package dev.troupe.wire.way;

import io.aeron.Publication;

/** The outcome of an attempt to send a frame, in Aeron's words. */
public enum Outcome {
    /** The frame was accepted. */
    ACCEPTED,
    /** The receiver has read too little; try again later. */
    BACK_PRESSURED,
    /** No receiver is connected; try again later. */
    NOT_CONNECTED,
    /** The stream is changing to its next term; the next attempt succeeds. */
    ADMIN_ACTION,
    /** The way is closed. */
    CLOSED,
    /** The stream has reached Aeron's largest position. */
    MAX_POSITION_EXCEEDED;

    /** Returns the outcome for a result of Aeron: a position or an error code. */
    static Outcome of(long result) {
        if (result > 0) {
            return ACCEPTED;
        } else if (result == Publication.BACK_PRESSURED) {
            return BACK_PRESSURED;
        } else if (result == Publication.NOT_CONNECTED) {
            return NOT_CONNECTED;
        } else if (result == Publication.ADMIN_ACTION) {
            return ADMIN_ACTION;
        }
        return result == Publication.CLOSED ? CLOSED : MAX_POSITION_EXCEEDED;
    }
}
