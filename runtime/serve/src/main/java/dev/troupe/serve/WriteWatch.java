package dev.troupe.serve;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * A watch over threads that write to readers. A write that lasts longer than a limit is interrupted, which closes its
 * connection: the JDK's server itself waits for a reader for ever.
 *
 * <p>Thread rule: any thread.
 */
final class WriteWatch implements AutoCloseable {
    private static final long LOOK_EVERY_NANOS = 100_000_000;

    private final long limitNanos;
    private final Map<Thread, Long> begins = new ConcurrentHashMap<>();
    private final Thread watcher;
    private volatile boolean isClosed;

    /**
     * @param limit the longest time of a write
     */
    WriteWatch(Duration limit) {
        limitNanos = limit.toNanos();
        watcher = Thread.ofVirtual().name("slow-readers").start(this::watch);
    }

    /**
     * Writes and flushes.
     *
     * @throws IOException if the reader has disconnected or takes too long
     */
    void write(OutputStream out, byte[] bytes) throws IOException {
        begins.put(Thread.currentThread(), System.nanoTime());
        try {
            out.write(bytes);
            out.flush();
        } finally {
            begins.remove(Thread.currentThread());
        }
    }

    private void watch() {
        while (!isClosed) {
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
            long now = System.nanoTime();
            // one step for each entry: no thread is interrupted after its write
            begins.keySet().forEach(writer -> begins.computeIfPresent(writer, (thread, begin) -> {
                if (now - begin > limitNanos) {
                    thread.interrupt();
                }
                return begin;
            }));
        }
    }

    @Override
    public void close() {
        isClosed = true;
        LockSupport.unpark(watcher);
    }
}
