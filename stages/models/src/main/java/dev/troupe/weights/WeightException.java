package dev.troupe.weights;

/** The refusal of weights that cannot be read; the message is one sentence for the user with the file and the tensor. */
public final class WeightException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public WeightException(String message) {
        super(message);
    }

    public WeightException(String message, Throwable cause) {
        super(message, cause);
    }
}
