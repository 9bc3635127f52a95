package dev.troupe.engine.provider;

/**
 * A failure of a device after which this process cannot use it again: no engine of the process computes any more, and the
 * contents of the device are lost. Any call of any engine of that kind may raise it; only another process can continue.
 */
public final class LostDeviceException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public LostDeviceException(String message) {
        super(message);
    }

    /** Whether a failure is one, or is caused by one. */
    public static boolean isBehind(Throwable failure) {
        Throwable at = failure;
        while (at != null && !(at instanceof LostDeviceException)) {
            at = at.getCause() == at ? null : at.getCause();
        }
        return at != null;
    }
}
