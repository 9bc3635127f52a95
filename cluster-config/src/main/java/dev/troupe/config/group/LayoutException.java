package dev.troupe.config.group;

/** Degrees that make no layout of the given ranks. The message is one sentence for the user. */
public final class LayoutException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the refusal.
     *
     * @param message what was expected, what was found and what to change, in one sentence
     */
    public LayoutException(String message) {
        super(message);
    }
}
