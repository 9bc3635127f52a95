package dev.troupe.actor;

/** A throwable as words for the user. */
final class Reason {
    private Reason() {
    }

    static String of(Throwable failure) {
        String kind = failure.getClass().getSimpleName();
        return failure.getMessage() == null ? kind : kind + ": " + failure.getMessage();
    }
}
