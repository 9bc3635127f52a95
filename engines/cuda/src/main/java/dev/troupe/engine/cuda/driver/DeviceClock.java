package dev.troupe.engine.cuda.driver;

import dev.troupe.engine.cuda.device.DeviceException;
import java.util.function.LongSupplier;

/**
 * The conversion of a device's events to the host's clock. The device measures only the time between two events. So the host
 * sometimes records an event on an idle stream and waits until it is reached: this is a look, a pair of instants on both
 * clocks. Its error is at most half of the wait. Times between two looks are interpolated, so that clocks may drift.
 *
 * <p>Thread rule: any thread.
 */
final class DeviceClock {
    /** The number of looks in a row; only the shortest one is used. */
    private static final int TRIES = 3;
    private static final int LOOK_EVENTS = TRIES + 2;
    /**
     * The age at which a look is replaced. Clocks drift by up to about 50 parts in a million, 1 microsecond in this time.
     */
    private static final long FRESH_NANOS = 20_000_000;
    /** The limit of a look: a longer one is inaccurate, and the next may be shorter. */
    private static final long LONGEST_LOOK_NANOS = 1_000_000;
    /** The limit of the first look, which cannot be left out. */
    private static final long LONGEST_FIRST_NANOS = 10_000_000_000L;
    private static final double NANOS_OF_MILLISECOND = 1e6;

    private final Events events;
    private final LongSupplier host;
    /** The event of each look. {@link #before} and {@link #after} are the indices of the last two, -1 if there are fewer. */
    private final long[] looks = new long[LOOK_EVENTS];
    private final long[] lookNanos = new long[LOOK_EVENTS];
    private int before = -1;
    private int after = -1;

    /** Events on an idle stream of a device. */
    interface Events {
        long make();

        /** Records the event again; the device reaches it at once. */
        void record(long event);

        boolean isReached(long event);

        /** The time from one reached event to another. */
        float milliseconds(long from, long to);
    }

    /**
     * Takes the first look.
     *
     * @param host the host's clock, in nanoseconds
     * @throws DeviceException if the device does not answer
     */
    DeviceClock(Events events, LongSupplier host) {
        this.events = events;
        this.host = host;
        for (int look = 0; look < LOOK_EVENTS; look++) {
            looks[look] = events.make();
        }
        if (!look(LONGEST_FIRST_NANOS)) {
            throw new DeviceException("the clock of a GPU was asked for, but the GPU has not answered within "
                    + LONGEST_FIRST_NANOS / 1_000_000_000 + " s; see nvidia-smi and the kernel's log");
        }
    }

    /** The instant of a reached event, in nanoseconds of the host's clock. */
    synchronized long nanos(long event) {
        if (host.getAsLong() - lookNanos[after] > FRESH_NANOS) {
            look(LONGEST_LOOK_NANOS);
        }
        int from = before < 0 ? after : before;
        double distance = distance(looks[from], event);
        return lookNanos[from] + Math.round(distance > 0 ? distance * rate() : distance);
    }

    /** Nanoseconds of the host's clock in one nanosecond of the device's. */
    private double rate() {
        double apart = before < 0 ? 0 : distance(looks[before], looks[after]);
        return apart > 0 ? (lookNanos[after] - lookNanos[before]) / apart : 1;
    }

    private double distance(long from, long to) {
        return NANOS_OF_MILLISECOND * events.milliseconds(from, to);
    }

    /** Replaces the older look by the best of a few new ones. */
    private boolean look(long longestNanos) {
        long shortest = Long.MAX_VALUE;
        int best = -1;
        for (int look = 0; look < LOOK_EVENTS; look++) {
            if (look == before || look == after) {
                continue;
            }
            long began = host.getAsLong();
            events.record(looks[look]);
            long seen = began;
            boolean isReached = false;
            while (!isReached && seen - began <= longestNanos) {
                isReached = events.isReached(looks[look]);
                seen = host.getAsLong();
            }
            if (isReached && seen - began < shortest) {
                shortest = seen - began;
                lookNanos[look] = began + shortest / 2;
                best = look;
            }
        }
        if (best >= 0) {
            before = after;
            after = best;
        }
        return best >= 0;
    }
}
