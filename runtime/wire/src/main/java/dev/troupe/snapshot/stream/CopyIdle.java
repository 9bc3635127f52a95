package dev.troupe.snapshot.stream;

import dev.troupe.wire.Mailbox;
import dev.troupe.wire.RestingIdle;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The idle strategy of a copying thread: its rests grow, and it never spins, since ranks need the cores. */
final class CopyIdle extends RestingIdle {
    private static final long MIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** The longest rest during a copy, as long as the media driver's sleep. */
    private static final long MAX_BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** The shortest rest without a copy, since each poll takes time from a rank. */
    private static final long MIN_IDLE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    /** The longest rest, which may delay the start of an incoming copy; rests grow with the idle time. */
    private static final long MAX_IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final boolean watchesConnections;
    private final BooleanSupplier isBusy;
    private long nanos = MIN_NANOS;

    /** @param isBusy whether a copy is in progress */
    CopyIdle(Mailbox<?> mailbox, boolean watchesConnections, BooleanSupplier isBusy) {
        super(mailbox);
        this.watchesConnections = watchesConnections;
        this.isBusy = isBusy;
    }

    @Override
    public void idle() {
        nanos = isBusy.getAsBoolean() ? Math.min(nanos, MAX_BUSY_NANOS) : Math.max(nanos, MIN_IDLE_NANOS);
        rest(nanos, watchesConnections);
        nanos = Math.min(2 * nanos, MAX_IDLE_NANOS);
    }

    @Override
    public void reset() {
        nanos = MIN_NANOS;
    }
}
