package dev.troupe.transport.link;

import dev.troupe.wire.Mailbox;
import dev.troupe.wire.RestingIdle;
import java.util.function.BooleanSupplier;

/**
 * The idle strategy of a transport's thread. It spins, yields and then rests, first briefly and later up to a millisecond,
 * or longer if each frame wakes the thread.
 */
final class TransportIdle extends RestingIdle {
    private static final int SPINS = 20;
    private static final int YIELDS = 10;
    /** Rounds without work before a rest that frames end; each round makes a system call for each connection. */
    private static final int WOKEN_SPINS = 2;
    private static final long MIN_REST_NANOS = 50_000;

    private final Links links;
    private final BooleanSupplier awaitsEngine;
    private final BooleanSupplier awaitsStream;
    private int idleRounds;
    private long restNanos = MIN_REST_NANOS;

    /**
     * @param awaitsEngine whether in the last round a message or buffer waited for a fence; engines wake no thread
     * @param awaitsStream whether the thread waits for space in a stream, which wakes no thread
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
