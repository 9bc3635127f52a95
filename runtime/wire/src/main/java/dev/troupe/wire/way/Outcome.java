package dev.troupe.wire.way;

import io.aeron.Publication;

/** The outcome of an attempt to send a frame, in Aeron's words. */
public enum Outcome {
    /** The frame is taken. */
    ACCEPTED,
    /** The receiver has not read enough yet: try again at a later turn. */
    BACK_PRESSURED,
    /** No receiver is connected: try again at a later turn. */
    NOT_CONNECTED,
    /** The stream changes to its next term: the next attempt succeeds. */
    ADMIN_ACTION,
    /** The way is closed, and takes no frame any more. */
    CLOSED,
    /** The stream has carried all the bytes that Aeron can number, and takes no frame any more. */
    MAX_POSITION_EXCEEDED;

    /** Returns the outcome of one of Aeron's results: a position, or one of its codes. */
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
