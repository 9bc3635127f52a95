package dev.troupe.schedule.simulator;

/**
 * The link from one rank to another.
 * @param latencyNanos time from the last byte's departure to its arrival
 * @param bytesPerSecond the bandwidth of an edge, on which messages travel one after the other; infinite if they take no
 *     time
 */
public record Hop(long latencyNanos, double bytesPerSecond) {
    /** A hop that takes no time. */
    public static final Hop FREE = new Hop(0, Double.POSITIVE_INFINITY);

    public Hop {
        if (latencyNanos < 0 || !(bytesPerSecond > 0)) {
            throw new IllegalArgumentException("a hop needs a latency of 0 or more and a bandwidth above 0, but has "
                    + latencyNanos + " ns and " + bytesPerSecond + " bytes/s");
        }
    }

    /** Returns the time for which a message occupies its edge; rounded to the nearest nanosecond. */
    public long occupancyNanos(long bytes) {
        return Math.round(bytes / bytesPerSecond * 1e9);
    }
}
