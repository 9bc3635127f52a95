package dev.troupe.transport.link;

import dev.troupe.wire.Mailbox;
import dev.troupe.wire.RestingIdle;
import java.util.function.BooleanSupplier;

/**
 * The idle strategy of a transport's thread: it spins and yields, and then rests, briefly at first and up to a
 * millisecond, or longer if each frame wakes it.
 */
final class TransportIdle extends RestingIdle {
    private static final int SPINS = 20;
    private static final int YIELDS = 10;
    /** Rounds without work before a rest that a frame ends: each asks the kernel for each connection. */
    private static final int WOKEN_SPINS = 2;
    private static final long MIN_REST_NANOS = 50_000;

    private final Links links;
    private final BooleanSupplier awaitsEngine;
    private final BooleanSupplier awaitsStream;
    private int idleRounds;
    private long restNanos = MIN_REST_NANOS;

    /**
     * @param awaitsEngine whether a message or a buffer waited for a fence in the last round; an engine that reaches
     *     one wakes nobody
     * @param awaitsStream whether a stream must have room again, which wakes no thread
     */
    TransportIdle(Links links, Mailbox<?> mailbox, BooleanSupplier awaitsEngine, BooleanSupplier awaitsStream) {
        super(mailbox);
        this.links = links;
        this.awaitsEngine = awaitsEngine;
        this.awaitsStream = awaitsStream;
    }

    @Override
    public void idle() {
        if (idleRounds < (links.isWoken() ? WOKEN_SPINS : SPINS)) {
            idleRounds++;
            Thread.onSpinWait();
        } else if (idleRounds < SPINS + YIELDS && !links.isWoken()) { // a yield may last a time slice
            idleRounds++;
            Thread.yield();
        } else {
            rest(restNanos, links.isWoken());
            restNanos = awaitsEngine.getAsBoolean()
                    ? MIN_REST_NANOS
                    : Math.min(2 * restNanos, links.longestRestNanos(awaitsStream.getAsBoolean()));
        }
    }

    @Override
    public void reset() {
        idleRounds = 0;
        restNanos = MIN_REST_NANOS;
    }
}
