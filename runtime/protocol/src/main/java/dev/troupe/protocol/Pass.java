package dev.troupe.protocol;

/**
 * One walk of all ranks over their rows.
 *
 * @param step the optimizer step it belongs to, from 0; the first one if the row has several
 * @param kind the plan that is walked
 * @param lossScale the factor of the loss before the backward
 */
public record Pass(long step, Kind kind, double lossScale) {
    private static final int KINDS = Kind.values().length;

    /** Creates a pass with a loss scale of 1. */
    public Pass(long step, Kind kind) {
        this(step, kind, 1);
    }

    /** Returns the number of this pass among all: the validation of a step comes after its training. Messages carry it. */
    public long number() {
        return step * KINDS + kind.ordinal();
    }

    /** Returns the step of the pass with a number, the first one if it has several. */
    public static long stepOf(long number) {
        return number / KINDS; // rounded down
    }

    public static Kind kindOf(long number) {
        return Kind.values()[(int) (number % KINDS)];
    }

    /** The kinds of passes, in their order within a step. */
    public enum Kind {
        /** Forwards and backwards; a weight update follows. */
        TRAINING,
        /** Forwards only, on validation data. */
        VALIDATION
    }
}
