package dev.troupe.engine.cuda.device;

/** A failure of a device or its driver; the message has the operation and the driver's description. */
public final class DeviceException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public DeviceException(String message) {
        super(message);
    }

    public DeviceException(String message, Throwable cause) {
        super(message, cause);
    }
}
