package dev.troupe.config.group;

/** The refusal of degrees that make no layout of the given ranks. The message is one sentence for the user. */
public final class LayoutException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the refusal.
     *
     * @param message the expectation, the finding and the change to make, in one sentence
     */
    public LayoutException(String message) {
        super(message);
    }
}
