package dev.troupe.engine.cuda.device;

/** A device or its driver failed; the message says at what, and in the driver's words how. */
public final class DeviceException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /** A failure in one sentence. */
    public DeviceException(String message) {
        super(message);
    }

    /** A failure in one sentence, and what it followed from. */
    public DeviceException(String message, Throwable cause) {
        super(message, cause);
    }
}
