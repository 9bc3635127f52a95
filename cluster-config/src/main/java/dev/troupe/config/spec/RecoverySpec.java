package dev.troupe.config.spec;

import dev.troupe.config.value.Values;
import java.time.Duration;
import java.util.Objects;

/**
 * Recovery from the failure of a rank.
 *
 * @param enabled whether a failed rank starts again inside the step; otherwise the run fails
 * @param mostPerStep maximum number of failures of one step from which the run recovers, at least 1
 * @param hangTimeout longest time without a kernel completed or a byte moved that is never a hang; a rank that takes
 *     longer, and much longer than the longest kernel of the run so far, is declared hung
 * @param warmStandby whether a standby warms up the stages that it may take over
 */
public record RecoverySpec(boolean enabled, int mostPerStep, Duration hangTimeout, boolean warmStandby) {

    private static final int MOST_RECOVERIES = 1000;

    public RecoverySpec {
        Objects.requireNonNull(hangTimeout, "hangTimeout");
    }

    /** Reads the section {@code recovery}. */
    public static RecoverySpec read(Values values) {
        return new RecoverySpec(values.flag("recovery.enabled"),
                values.integer("recovery.most-per-step", 1, MOST_RECOVERIES),
                values.duration("recovery.hang-timeout", Duration.ofMillis(100), Duration.ofHours(24)),
                values.flag("recovery.warm-standby"));
    }
}
