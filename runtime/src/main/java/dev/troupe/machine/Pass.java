package dev.troupe.machine;

/**
 * One walk of all ranks over their rows.
 *
 * @param step
 *            the optimizer step it belongs to, from 0
 * @param kind
 *            which of the two plans is walked
 */
public record Pass(long step, Kind kind) {
    /** What a pass is for. */
    public enum Kind {
        /** Forwards and backwards; a weight update follows. */
        TRAINING,
        /** Forwards only, on held-out data. */
        HELD_OUT
    }
}
