package dev.troupe.engine.emulated;

import java.util.concurrent.locks.LockSupport;

/**
 * Sleeps until a moment, without spinning. Waking up takes time of its own, so it goes to sleep that much shorter; how much
 * it learns from the lateness of its own last sleeps.
 *
 * <p>Thread rule: one thread, always the same one; its timer slack is made least.
 */
final class ExactSleep {
    /** Weight of the newest lateness: an outlier is forgotten after some ten sleeps. */
    private static final double LEARNING_RATE = 0.1;
    /** No sleep is shortened by more: what is later than that is load on the machine, not the cost of waking up. */
    private static final long MOST_LEAD_NANOS = 200_000;

    private double leadNanos;
    private boolean prepared;

    /** Returns at {@code deadlineNanos} of {@link System#nanoTime}, or a little later; at once where it is past. */
    void until(long deadlineNanos) {
        if (!prepared) {
            TimerSlack.makeLeast();
            prepared = true;
        }
        long aimNanos = deadlineNanos - (long) leadNanos;
        long remaining = aimNanos - System.nanoTime();
        if (remaining <= 0) {
            return;
        }
        while (remaining > 0) {
            LockSupport.parkNanos(this, remaining); // may wake early: the loop sleeps on
            remaining = aimNanos - System.nanoTime();
        }
        long late = -remaining;
        leadNanos = Math.min(MOST_LEAD_NANOS, leadNanos + LEARNING_RATE * (late - leadNanos));
    }
}
