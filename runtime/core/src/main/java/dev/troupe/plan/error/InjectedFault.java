package dev.troupe.plan.error;

/** The failure of an injected fault. The message names the fault; there is no stack trace. */
public final class InjectedFault extends RuntimeException {
    /** The start of the message of each injected failure. */
    public static final String PREFIX = "injected: ";

    private static final long serialVersionUID = 1L;

    public InjectedFault(String message) {
        super(message, null, false, false);
    }

    /** Whether an injected fault threw this, even as an error of another type. */
    public static boolean isInjected(Throwable failure) {
        return failure instanceof InjectedFault
                || failure.getMessage() != null && failure.getMessage().contains(PREFIX);
    }
}
