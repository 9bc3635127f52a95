package dev.troupe.snapshot.stream;

import dev.troupe.wire.Mailbox;
import dev.troupe.wire.RestingIdle;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The idle strategy of a copying thread: it rests, longer each time, and never spins, since ranks need the cores. */
final class CopyIdle extends RestingIdle {
    private static final long MIN_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** The rest during a copy: as long as the media driver sleeps. */
    private static final long MAX_BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** The rest without a copy, since each poll takes a core from a rank. */
    private static final long MIN_IDLE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    /** The longest rest, by which an incoming copy may be noticed late; each is about as long as the idle time before. */
    private static final long MAX_IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final boolean watchesConnections;
    private final BooleanSupplier isBusy;
    private long nanos = MIN_NANOS;

    /**
     * @param isBusy whether a copy is on its way
     */
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
