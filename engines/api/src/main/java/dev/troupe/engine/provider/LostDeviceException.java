package dev.troupe.engine.provider;

/**
 * A failure after which this process cannot use the device again. Its contents are lost, and any call of any engine of that
 * kind may raise this. Only another process can continue.
 */
public final class LostDeviceException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public LostDeviceException(String message) {
        super(message);
    }

    /** Whether a failure is a lost device, or has one as its cause. */
    public static boolean isBehind(Throwable failure) {
        Throwable at = failure;
        while (at != null && !(at instanceof LostDeviceException)) {
            at = at.getCause() == at ? null : at.getCause();
        }
        return at != null;
    }
}
