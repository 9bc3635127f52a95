package dev.troupe.collective;

import java.util.OptionalInt;

/**
 * A collective that failed. The message is one sentence that names group, epoch, member and collective, with the reason.
 * The group has ended in this epoch, so the stage that called can compute nothing more; its supervisor begins another epoch.
 */
public final class CollectiveException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int NOBODY = -1;

    private final int culprit;

    /**
     * Creates the error.
     *
     * @param culprit the member at fault; empty if there is no single one
     */
    public CollectiveException(String message, OptionalInt culprit, Throwable cause) {
        super(message, cause);
        this.culprit = culprit.orElse(NOBODY);
    }

    /** The member at fault; empty if there is no single one. */
    public OptionalInt culprit() {
        return culprit == NOBODY ? OptionalInt.empty() : OptionalInt.of(culprit);
    }
}
