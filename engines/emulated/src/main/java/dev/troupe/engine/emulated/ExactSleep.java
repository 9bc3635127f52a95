package dev.troupe.engine.emulated;

import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Sleep until an instant, without spinning. Each sleep is shortened by the time of a wake-up, which is learned: a little
 * more after a late end, a little less after an early one, so that half are late and half are early, and an outlier counts
 * no more than any other.
 *
 * <p>Thread rule: always the same thread; its timer slack becomes the least possible.
 */
final class ExactSleep {
    /** The change of the lead after one sleep: a twentieth of the time of a wake-up on an idle machine. */
    private static final long LEARNING_STEP_NANOS = 2_000;
    /** The largest lead: a later wake-up is due to load on the machine. */
    private static final long MOST_LEAD_NANOS = 200_000;

    private final LongSupplier clock;
    private final LongConsumer sleep;
    private long leadNanos;
    private boolean prepared;

    /**
     * A sleep without experience.
     *
     * @param clock in nanoseconds
     * @param sleep lets the given number of nanoseconds pass, more or less
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
            sleep.accept(remaining); // may wake early: the loop sleeps on
            remaining = aimNanos - clock.getAsLong();
        }
        boolean late = clock.getAsLong() > deadlineNanos;
        leadNanos = Math.clamp(leadNanos + (late ? LEARNING_STEP_NANOS : -LEARNING_STEP_NANOS), 0, MOST_LEAD_NANOS);
    }
}
