package dev.troupe.plan;

/**
 * A failure to start the actors of this process, although the request was right; another attempt may succeed. The message is
 * one sentence for the user.
 */
public final class StartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StartException(String message, Throwable cause) {
        super(message, cause);
    }
}
