package dev.troupe.data;

/**
 * The refusal of training data that cannot be used; the message is one sentence for the user with the file and the place.
 */
public final class DataException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public DataException(String message) {
        super(message);
    }

    public DataException(String message, Throwable cause) {
        super(message, cause);
    }
}
