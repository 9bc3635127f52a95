package dev.troupe.schedule.simulator;

import java.util.Arrays;

/**
 * The tensors on their way into a stage in one direction: the arrival of each microbatch's tensor. Slots are found by the
 * microbatch's low bits and doubled when two meet, so a regular pipeline needs a handful for any M.
 *
 * <p>Messages leave in the order in which they are put, one after the other, each when it has a credit.
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
     * @param latencyNanos time of a message after that, and of a credit on its way back
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

    /** Takes over a tensor that is ready to leave at a time. */
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
     * Hands a tensor to its user, and its credit back.
     *
     * @return a microbatch with a tensor that could leave for that; -1 if there is none
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
                // Those that did not meet in fewer slots do not meet in more.
                int slot = oldMicrobatches[old] & microbatches.length - 1;
                microbatches[slot] = oldMicrobatches[old];
                arrivals[slot] = oldArrivals[old];
            }
        }
    }
}
