package dev.troupe.look.model;

/**
 * The end of a text.
 *
 * @param rest the text that was held back until now
 * @param tokens the number of its tokens, with one that ends it
 */
public record TextEnd(Reason reason, String rest, int tokens) {
    /** Why a text ends. */
    public enum Reason {
        /** A token or text that ends it was written. */
        STOP,
        /** It has the most tokens. */
        LENGTH,
        /** Its reader or the end of the queue has cancelled it. */
        CANCELLED
    }
}
