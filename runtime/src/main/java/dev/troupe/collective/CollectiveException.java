package dev.troupe.collective;

import dev.troupe.parallel.GroupException;
import java.util.OptionalInt;

/**
 * A collective that did not come to its end. The message is one sentence that says who (group, epoch, member), at which
 * collective, and why. The group is at an end in this epoch; whoever supervises it begins another.
 */
public final class CollectiveException extends GroupException {
    private static final long serialVersionUID = 1L;
    private static final int NOBODY = -1;

    private final int culprit;

    /**
     * Creates the error.
     *
     * @param culprit
     *            the member at fault; empty where it is none alone
     */
    public CollectiveException(String message, OptionalInt culprit, Throwable cause) {
        super(message, cause);
        this.culprit = culprit.orElse(NOBODY);
    }

    /** The member at fault; empty where it is none alone. */
    public OptionalInt culprit() {
        return culprit == NOBODY ? OptionalInt.empty() : OptionalInt.of(culprit);
    }
}
