package dev.troupe.protocol.checkpoint;

/**
 * The timer that limits the age of the last checkpoint.
 *
 * <p>Thread rule: none; one caller at a time. Times are nanoseconds of one monotonic clock.
 */
public final class CheckpointTimer {
    private final long intervalNanos;
    private long sinceNanos;

    /**
     * @param intervalNanos the largest age; 0 for no limit
     */
    public CheckpointTimer(long intervalNanos, long nowNanos) {
        this.intervalNanos = intervalNanos;
        this.sinceNanos = nowNanos;
    }

    /** Restarts the interval, after a checkpoint was written or has failed. */
    public void restart(long nowNanos) {
        sinceNanos = nowNanos;
    }

    /** Returns whether a checkpoint is due; if so, the next interval begins. */
    public boolean takeDue(long nowNanos) {
        boolean isDue = intervalNanos > 0 && nowNanos - sinceNanos >= intervalNanos;
        if (isDue) {
            restart(nowNanos);
        }
        return isDue;
    }
}
