package dev.troupe.fault;

/**
 * Something that failed because it was told to. The message names the fault, and is all there is to know: it has no
 * stack.
 */
public final class InjectedFault extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public InjectedFault(String message) {
        super(message, null, false, false);
    }
}
