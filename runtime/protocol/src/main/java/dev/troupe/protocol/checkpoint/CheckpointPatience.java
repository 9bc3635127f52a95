package dev.troupe.protocol.checkpoint;

/**
 * The limit on the wait of a run for a checkpoint without progress. It counts looks and not a clock: time in which nobody
 * looks does not count.
 *
 * <p>Thread rule: none; one caller at a time.
 */
public final class CheckpointPatience {
    private final long patienceNanos;
    private final long lookEveryNanos;
    private long waitedNanos;

    /**
     * @param timeoutNanos the time without progress after which a run stalls; the wait for a checkpoint ends after half
     *     of it
     * @param hangNanos the time after which a hang is assumed, which ends the wait too; 0 for never
     * @param lookEveryNanos the time between two looks
     */
    public CheckpointPatience(long timeoutNanos, long hangNanos, long lookEveryNanos) {
        this.patienceNanos = hangNanos == 0 ? timeoutNanos / 2 : Math.min(timeoutNanos / 2, hangNanos); // rounded down
        this.lookEveryNanos = lookEveryNanos;
    }

    public void moved() {
        waitedNanos = 0;
    }

    /** Takes a look; returns whether the run, if it waits, has waited too long. */
    public boolean isOver(boolean waits) {
        waitedNanos = waits ? waitedNanos + lookEveryNanos : 0;
        return waitedNanos > patienceNanos;
    }
}
