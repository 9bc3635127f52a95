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
 * The rest of a thread that looks after connections, and perhaps also after streams in memory, with frames that wake no
 * thread.
 *
 * <p>Thread rule: one thread rests and watches; any thread wakes it.
 */
public final class Rest implements AutoCloseable {
    private final Selector selector;
    private volatile Thread resting;
    /** Of the next rest. */
    private long mostMillis = Long.MAX_VALUE;

    private Rest(Selector selector) {
        this.selector = selector;
    }

    /** Makes a rest in which connections can be watched. */
    public static Rest open() {
        try {
            return new Rest(Selector.open());
        } catch (IOException none) {
            throw new TransportException("the transport could not watch connections: " + none.getMessage()
                    + "; see that this process may open more files (ulimit -n)", none);
        }
    }

    /** Watches a connection that does not wait, until it is closed. */
    public SelectionKey watch(SocketChannel socket) throws IOException {
        return socket.register(selector, SelectionKey.OP_READ);
    }

    /**
     * Lets go of connections that are closed, which the kernel would hold until the next rest. The next rest ends at once,
     * since a wake may have ended here.
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

    /** The next rest in which connections are watched ends after this time at the latest. On the thread that rests. */
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

    /** The whole milliseconds of a time, at least one: a selector without a time waits for ever. */
    private static long millis(long nanos) {
        return Math.max(1, Math.ceilDiv(nanos, TimeUnit.MILLISECONDS.toNanos(1)));
    }

    /** A wake from now on reaches this thread, and keeps it from its next rest. */
    void begin() {
        resting = Thread.currentThread();
    }

    /** Rests until the thread is woken or the time is over, or with {@code watches} as {@link #untilReady} does. */
    void during(long nanos, boolean watches) {
        if (watches) {
            untilReady(millis(nanos));
        } else {
            LockSupport.parkNanos(this, nanos);
        }
    }

    /** Wakes the thread, or keeps it from its next rest; one that has never rested may rest once. */
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
