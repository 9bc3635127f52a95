package dev.troupe.wire;

import dev.troupe.transport.TransportException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The rest of a thread that serves connections, and possibly also streams in memory, which wake no thread.
 *
 * <p>Thread rule: one thread rests and watches; any thread wakes it.
 */
public final class Rest implements AutoCloseable {
    private final Selector selector;
    private volatile Thread resting;
    /** The limit of the next rest that watches connections. */
    private long mostMillis = Long.MAX_VALUE;

    private Rest(Selector selector) {
        this.selector = selector;
    }

    /** Creates a rest that can watch connections. */
    public static Rest open() {
        try {
            return new Rest(Selector.open());
        } catch (IOException none) {
            throw new TransportException("the transport could not watch connections: " + none.getMessage()
                    + "; see that this process may open more files (ulimit -n)", none);
        }
    }

    /** Watches a non-blocking connection until it is closed. */
    public SelectionKey watch(SocketChannel socket) throws IOException {
        return socket.register(selector, SelectionKey.OP_READ);
    }

    /**
     * Releases closed connections, which the kernel would otherwise hold until the next rest. The next rest ends at once,
     * since this call may have consumed a wake.
     */
    public void settle() {
        try {
            selector.selectNow(_ -> {
            });
            selector.wakeup();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Limits the next rest that watches connections. Called by the resting thread. */
    public void atMost(long nanos) {
        mostMillis = Math.min(mostMillis, millis(nanos));
    }

    /** Rests until a watched connection is ready, the thread is woken, or the time is over. */
    public void untilReady(long millis) {
        try {
            selector.select(_ -> {
            }, Math.min(millis, mostMillis));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        mostMillis = Long.MAX_VALUE;
    }

    /** Returns a time in milliseconds, rounded up to at least one: for a selector zero means no limit. */
    private static long millis(long nanos) {
        return Math.max(1, Math.ceilDiv(nanos, TimeUnit.MILLISECONDS.toNanos(1)));
    }

    /** Directs wakes to the calling thread from now on. */
    void begin() {
        resting = Thread.currentThread();
    }

    /** Rests until the thread is woken or the time is over; with {@code watches} as {@link #untilReady}. */
    void during(long nanos, boolean watches) {
        if (watches) {
            untilReady(millis(nanos));
        } else {
            LockSupport.parkNanos(this, nanos);
        }
    }

    /** Ends the rest or prevents the next one, unless the thread has never rested. */
    public void wake() {
        selector.wakeup();
        LockSupport.unpark(resting);
    }

    @Override
    public void close() {
        try {
            selector.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
