package dev.troupe.machine;

/**
 * One walk of all ranks over their rows.
 *
 * @param step
 *            the optimizer step it belongs to, from 0
 * @param kind
 *            which of the two plans is walked
 * @param lossScale
 *            what the loss is multiplied by before the backward
 */
public record Pass(long step, Kind kind, double lossScale) {
    /** A pass whose loss stays as it is. */
    public Pass(long step, Kind kind) {
        this(step, kind, 1);
    }

    /** What a pass is for. */
    public enum Kind {
        /** Forwards and backwards; a weight update follows. */
        TRAINING,
        /** Forwards only, on held-out data. */
        HELD_OUT
    }
}
