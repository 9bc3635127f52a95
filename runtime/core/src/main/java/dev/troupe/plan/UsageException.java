package dev.troupe.plan;

/** A refusal of a run's request. The message is one sentence for the user; nothing was written. */
public final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UsageException(String message) {
        super(message);
    }

    public UsageException(String message, Throwable cause) {
        super(message, cause);
    }
}
