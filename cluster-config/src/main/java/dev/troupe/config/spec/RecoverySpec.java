package dev.troupe.config.spec;

import dev.troupe.config.value.Values;
import java.time.Duration;
import java.util.Objects;

/** The recovery from the failure of a rank: the section {@code recovery} of the defaults. */
public record RecoverySpec(boolean enabled, int mostPerStep, Duration hangTimeout, boolean warmStandby) {

    private static final int MOST_RECOVERIES = 1000;

    public RecoverySpec {
        Objects.requireNonNull(hangTimeout, "hangTimeout");
    }

    public static RecoverySpec read(Values values) {
        return new RecoverySpec(values.flag("recovery.enabled"),
                values.integer("recovery.most-per-step", 1, MOST_RECOVERIES),
                values.duration("recovery.hang-timeout", Duration.ofMillis(100), Duration.ofHours(24)),
                values.flag("recovery.warm-standby"));
    }
}
