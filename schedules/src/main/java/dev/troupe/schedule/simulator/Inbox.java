package dev.troupe.schedule.simulator;

import java.util.Arrays;

/**
 * The table of tensors in flight into a stage from one direction, with the arrival time of each. The slot is the
 * microbatch's low bits; the table doubles at a collision. A regular pipeline needs a handful of slots for any M.
 *
 * <p>Messages leave in the order of {@link #put}, one after the other, each when it has a credit.
 */
final class Inbox {
    /** The arrival of a tensor that has not left. */
    static final long UNKNOWN = -1;

    private static final int EMPTY = -1;

    private final long occupancyNanos;
    private final long latencyNanos;
    private final boolean withCredits;
    private final LongQueue credits = new LongQueue();
    private final LongQueue waiting = new LongQueue();
    private int[] microbatches = new int[4];
    private long[] arrivals = new long[4];
    private long freeAt;

    /**
     * @param occupancyNanos time for which a message occupies the edge
     * @param latencyNanos latency of a message after that, and of a returned credit
     * @param creditCount messages that may be unconsumed; 0 for any number
     */
    Inbox(long occupancyNanos, long latencyNanos, int creditCount) {
        this.occupancyNanos = occupancyNanos;
        this.latencyNanos = latencyNanos;
        this.withCredits = creditCount > 0;
        for (int i = 0; i < creditCount; i++) {
            credits.add(0);
        }
        Arrays.fill(microbatches, EMPTY);
    }

    /** Adds a tensor that is ready to leave at a time. */
    void put(int microbatch, long readyNanos) {
        if (!withCredits) {
            depart(microbatch, readyNanos);
            return;
        }
        waiting.add(microbatch);
        waiting.add(readyNanos);
        departWithCredit();
    }

    /** Returns the arrival of a microbatch's tensor; {@link #UNKNOWN} if it has not left. */
    long arrival(int microbatch) {
        int slot = microbatch & microbatches.length - 1;
        return microbatches[slot] == microbatch ? arrivals[slot] : UNKNOWN;
    }

    /**
     * Gives a tensor to its user, and its credit back.
     * @return a microbatch that may leave with this credit; -1 if there is none
     */
    int take(int microbatch, long nanos) {
        microbatches[microbatch & microbatches.length - 1] = EMPTY;
        if (!withCredits) {
            return EMPTY;
        }
        credits.add(nanos + latencyNanos);
        return departWithCredit();
    }

    private int departWithCredit() {
        if (waiting.isEmpty() || credits.isEmpty()) {
            return EMPTY;
        }
        int microbatch = (int) waiting.remove();
        depart(microbatch, Math.max(waiting.remove(), credits.remove()));
        return microbatch;
    }

    private void depart(int microbatch, long nanos) {
        freeAt = Math.max(freeAt, nanos) + occupancyNanos;
        while (microbatches[microbatch & microbatches.length - 1] != EMPTY) {
            grow();
        }
        int slot = microbatch & microbatches.length - 1;
        microbatches[slot] = microbatch;
        arrivals[slot] = freeAt + latencyNanos;
    }

    private void grow() {
        int[] oldMicrobatches = microbatches;
        long[] oldArrivals = arrivals;
        microbatches = new int[2 * oldMicrobatches.length];
        arrivals = new long[microbatches.length];
        Arrays.fill(microbatches, EMPTY);
        for (int old = 0; old < oldMicrobatches.length; old++) {
            if (oldMicrobatches[old] != EMPTY) {
                // Microbatches that did not collide in fewer slots do not collide in more.
                int slot = oldMicrobatches[old] & microbatches.length - 1;
                microbatches[slot] = oldMicrobatches[old];
                arrivals[slot] = oldArrivals[old];
            }
        }
    }
}
