package dev.troupe.plan.checkpoint;

/** A checkpoint that cannot be written or read; the message is one sentence for the user. */
public sealed class CheckpointException extends RuntimeException permits DamageException {
    private static final long serialVersionUID = 1L;

    public CheckpointException(String message) {
        super(message);
    }

    public CheckpointException(String message, Throwable cause) {
        super(message, cause);
    }
}
