package dev.troupe.protocol;

/**
 * One walk of all ranks over their rows.
 *
 * @param step the optimizer step it belongs to, from 0; the first one if the row has several
 * @param kind which of the two plans is walked
 * @param lossScale what the loss is multiplied by before the backward
 */
public record Pass(long step, Kind kind, double lossScale) {
    private static final int KINDS = Kind.values().length;

    /** A pass whose loss stays as it is. */
    public Pass(long step, Kind kind) {
        this(step, kind, 1);
    }

    /** Its place among all passes of a run: validation data of a step come after its training. Messages carry it. */
    public long number() {
        return step * KINDS + kind.ordinal();
    }

    /** The step of the pass with a number, the first one if it has several. */
    public static long stepOf(long number) {
        return number / KINDS; // rounded down
    }

    /** The kind of the pass with a number. */
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
