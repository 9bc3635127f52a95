package dev.troupe.transport;

/** The error of a transport that cannot start. The message is one sentence for the user. */
public final class TransportException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public TransportException(String message) {
        super(message);
    }

    public TransportException(String message, Throwable cause) {
        super(message, cause);
    }
}
