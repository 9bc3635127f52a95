package dev.troupe.protocol.checkpoint;

/**
 * The limit on a run's wait for a checkpoint without progress. It counts checks instead of reading a clock, so time without
 * checks does not count.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class CheckpointPatience {
    private final long patienceNanos;
    private final long lookEveryNanos;
    private long waitedNanos;

    /**
     * @param timeoutNanos the time without progress after which a run stalls; half of it is the limit here
     * @param hangNanos the time without progress after which a rank hangs, which is a limit too; 0 for none
     * @param lookEveryNanos the time between two checks
     */
    public CheckpointPatience(long timeoutNanos, long hangNanos, long lookEveryNanos) {
        this.patienceNanos = hangNanos == 0 ? timeoutNanos / 2 : Math.min(timeoutNanos / 2, hangNanos); // rounded down
        this.lookEveryNanos = lookEveryNanos;
    }

    public void moved() {
        waitedNanos = 0;
    }

    /** Checks the wait; returns whether the run, if it waits, has waited too long. */
    public boolean isOver(boolean waits) {
        waitedNanos = waits ? waitedNanos + lookEveryNanos : 0;
        return waitedNanos > patienceNanos;
    }
}
