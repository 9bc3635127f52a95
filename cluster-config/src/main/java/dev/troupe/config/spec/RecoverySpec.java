package dev.troupe.config.spec;

import java.time.Duration;
import java.util.Objects;

/**
 * What is done when a rank fails.
 *
 * @param enabled
 *            whether it starts again inside the step; otherwise the run fails
 * @param mostPerStep
 *            failures of one step that the run goes on from, at least 1: what fails more often would for ever
 * @param hangTimeout
 *            how long a rank may be at one thing in any case; beyond it, it is taken to hang where that is also much
 *            longer than any rank was at anything before
 * @param warmStandby
 *            whether a node without ranks warms up what it may take over
 */
public record RecoverySpec(boolean enabled, int mostPerStep, Duration hangTimeout, boolean warmStandby) {

    /** Refuses a missing part. */
    public RecoverySpec {
        Objects.requireNonNull(hangTimeout, "hangTimeout");
    }
}
