package dev.troupe.engine.cuda.driver;

import dev.troupe.engine.cuda.device.DeviceException;
import java.util.function.LongSupplier;

/**
 * Tells when events of a device happened, on the host's clock. The device knows the time between two events. So events are
 * recorded behind no work, where the host sees them at once: such a look says what both clocks show, to half the time that
 * the host took. An event between two looks is placed between them by its distance from the first, so that clocks may
 * drift.
 *
 * <p>Thread rule: any thread.
 */
final class DeviceClock {
    /** Looks at one time, the shortest of which counts. */
    private static final int TRIES = 3;
    private static final int LOOK_EVENTS = TRIES + 2;
    /** A look stays good for so long: clocks drift apart by up to some 50 millionths, 1 microsecond in this time. */
    private static final long FRESH_NANOS = 20_000_000;
    /** A look that the device takes longer for says little, and the next may do better. */
    private static final long LONGEST_LOOK_NANOS = 1_000_000;
    /** The longest that the first may take. */
    private static final long LONGEST_FIRST_NANOS = 10_000_000_000L;
    private static final double NANOS_OF_MILLISECOND = 1e6;

    private final Events events;
    private final LongSupplier host;
    /** Two of them are the looks that count, as soon as there are two. */
    private final long[] looks = new long[LOOK_EVENTS];
    private final long[] lookNanos = new long[LOOK_EVENTS];
    private int before = -1;
    private int after = -1;

    /** Events of a device, behind no work of anybody. */
    interface Events {
        /** An event that measures time. */
        long make();

        /** The device reaches the event now; what it was before is forgotten. */
        void record(long event);

        boolean isReached(long event);

        /** The time from one event to another, both of which are reached. */
        float milliseconds(long from, long to);
    }

    /**
     * Looks for the first time.
     *
     * @param host the host's clock, in nanoseconds
     * @throws DeviceException where the device does not answer
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

    /** When an event that is reached happened, in nanoseconds of the host's clock. */
    synchronized long nanos(long event) {
        if (host.getAsLong() - lookNanos[after] > FRESH_NANOS) {
            look(LONGEST_LOOK_NANOS);
        }
        int from = before < 0 ? after : before;
        double distance = distance(looks[from], event);
        return lookNanos[from] + Math.round(distance > 0 ? distance * rate() : distance);
    }

    /** Nanoseconds of the host's clock in one of the device's. */
    private double rate() {
        double apart = before < 0 ? 0 : distance(looks[before], looks[after]);
        return apart > 0 ? (lookNanos[after] - lookNanos[before]) / apart : 1;
    }

    private double distance(long from, long to) {
        return NANOS_OF_MILLISECOND * events.milliseconds(from, to);
    }

    /** Makes the last look the one before, and the best of a few new ones the last. */
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
