package dev.troupe.compare;

/** A comparison that came to no result, or to one that must not be: a run failed, or schedules disagree on the losses. */
public final class ComparisonException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ComparisonException(String message) {
        super(message);
    }
}
