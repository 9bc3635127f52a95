package dev.troupe.collective;

import java.util.OptionalInt;

/**
 * The error of a collective. The message is one sentence with group, epoch, member, collective and reason. The group has
 * ended in this epoch, so the calling stage can compute nothing more; its supervisor begins another epoch.
 */
public final class CollectiveException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int NOBODY = -1;

    private final int culprit;

    /**
     * Creates the error.
     *
     * @param culprit the member at fault; empty if no single member is
     */
    public CollectiveException(String message, OptionalInt culprit, Throwable cause) {
        super(message, cause);
        this.culprit = culprit.orElse(NOBODY);
    }

    /** Returns the member at fault; empty if no single member is. */
    public OptionalInt culprit() {
        return culprit == NOBODY ? OptionalInt.empty() : OptionalInt.of(culprit);
    }
}
