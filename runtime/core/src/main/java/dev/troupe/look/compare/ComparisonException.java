package dev.troupe.look.compare;

/** A comparison without a valid result: a run failed, or schedules disagree on the losses. */
public final class ComparisonException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ComparisonException(String message) {
        super(message);
    }
}
