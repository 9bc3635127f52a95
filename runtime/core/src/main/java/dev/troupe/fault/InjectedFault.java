package dev.troupe.fault;

/** The failure of an injected fault. The message names the fault; there is no stack trace. */
public final class InjectedFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public InjectedFault(String message) {
        super(message, null, false, false);
    }
}
