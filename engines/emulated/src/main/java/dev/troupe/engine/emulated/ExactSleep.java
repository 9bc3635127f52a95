package dev.troupe.engine.emulated;

import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * A sleep until an instant, without spinning. Each sleep is shortened by a lead for the wake-up, which increases a little
 * after a late end and decreases after an early one. So half of the ends are late, and outliers have no special weight.
 *
 * <p>Thread rule: always the same thread; its timer slack becomes the least possible.
 */
final class ExactSleep {
    /** The change of the lead after one sleep: a twentieth of the time of a wake-up on an idle machine. */
    private static final long LEARNING_STEP_NANOS = 2_000;
    /** The largest lead; later wake-ups are due to load on the machine. */
    private static final long MOST_LEAD_NANOS = 200_000;

    private final LongSupplier clock;
    private final LongConsumer sleep;
    private long leadNanos;
    private boolean prepared;

    /**
     * A sleep without experience.
     *
     * @param clock in nanoseconds
     * @param sleep sleeps for about the given number of nanoseconds
     */
    ExactSleep(LongSupplier clock, LongConsumer sleep) {
        this.clock = clock;
        this.sleep = sleep;
    }

    /** Returns at about {@code deadlineNanos} of the clock; at once if it has passed. */
    void until(long deadlineNanos) {
        if (!prepared) {
            TimerSlack.makeLeast();
            prepared = true;
        }
        long aimNanos = deadlineNanos - leadNanos;
        long remaining = aimNanos - clock.getAsLong();
        if (remaining <= 0) {
            return;
        }
        while (remaining > 0) {
            sleep.accept(remaining); // may wake early: the loop continues to sleep
            remaining = aimNanos - clock.getAsLong();
        }
        boolean late = clock.getAsLong() > deadlineNanos;
        leadNanos = Math.clamp(leadNanos + (late ? LEARNING_STEP_NANOS : -LEARNING_STEP_NANOS), 0, MOST_LEAD_NANOS);
    }
}
