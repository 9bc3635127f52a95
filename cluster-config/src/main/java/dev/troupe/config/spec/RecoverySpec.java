package dev.troupe.config.spec;

import java.time.Duration;
import java.util.Objects;

/**
 * Recovery from the failure of a rank.
 *
 * @param enabled whether a failed rank starts again inside the step; otherwise the run fails
 * @param mostPerStep most failures of one step from which the run recovers, at least 1: an action that fails more often
 *     would fail for ever
 * @param hangTimeout longest time without a kernel completed or a byte moved that is never a hang; a rank that takes
 *     longer, and much longer than the longest kernel of the run so far, is declared hung
 * @param warmStandby whether a standby warms up the stages that it may take over
 */
public record RecoverySpec(boolean enabled, int mostPerStep, Duration hangTimeout, boolean warmStandby) {

    /** Refuses a missing part. */
    public RecoverySpec {
        Objects.requireNonNull(hangTimeout, "hangTimeout");
    }
}
