package dev.troupe.engine.emulated;

import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Sleeps until a moment, without spinning. Waking up takes time of its own, so it goes to sleep that much shorter. How much
 * it learns from its own last sleeps: a little more after one that ended late, a little less after one that ended early, so
 * that half of them are late and half are early, and an outlier counts no more than any other.
 *
 * <p>Thread rule: one thread, always the same one; its timer slack is made least.
 */
final class ExactSleep {
    /** The change of the lead by one sleep: a twentieth of the time that waking up takes on an idle machine. */
    private static final long LEARNING_STEP_NANOS = 2_000;
    /** No sleep is shortened by more: what is later than that is load on the machine, not the cost of waking up. */
    private static final long MOST_LEAD_NANOS = 200_000;

    private final LongSupplier clock;
    private final LongConsumer sleep;
    private long leadNanos;
    private boolean prepared;

    /**
     * Has slept never before.
     *
     * @param clock tells the time in nanoseconds
     * @param sleep lets the given nanoseconds pass, more or less
     */
    ExactSleep(LongSupplier clock, LongConsumer sleep) {
        this.clock = clock;
        this.sleep = sleep;
    }

    /** Returns at about {@code deadlineNanos} of the clock; at once where it is past. */
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
