package dev.troupe.store;

/**
 * The rule by which a worker at some time may read parameters: after all pushes of times before {@code time - delay} (Li et
 * al. 2014, section 3.4).
 *
 * @param delay tau: 0 for sequential training, {@link Long#MAX_VALUE} for no bound
 */
public record Consistency(long delay) {
    /** Every worker reads all pushes of the times before; pushes of one time are added up in the order of workers. */
    public static final Consistency SEQUENTIAL = new Consistency(0);
    /** Nobody waits. */
    public static final Consistency EVENTUAL = new Consistency(Long.MAX_VALUE);

    public Consistency {
        if (delay < 0) {
            throw new IllegalArgumentException("a delay is at least 0, but found " + delay);
        }
    }

    /** Returns the rule with a bound on the delay, in times. */
    public static Consistency bounded(long delay) {
        return new Consistency(delay);
    }

    /** Returns whether the pushes of all workers of one time are one update. */
    public boolean addsUp() {
        return delay == 0;
    }

    /** Returns the pushes that a range must have of each worker before it is read at a time. */
    public long needed(long time) {
        return Math.max(0, time - delay);
    }
}
