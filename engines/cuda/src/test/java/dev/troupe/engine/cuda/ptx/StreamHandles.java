package dev.troupe.engine.cuda.ptx;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** The handles by which a library names the streams of a device, and the device that its calls of a thread are for. */
final class StreamHandles {
    /** The handle of the next stream, of any device. */
    private static final AtomicLong NEXT = new AtomicLong(0x5100);
    private static final ThreadLocal<StreamHandles> CURRENT = new ThreadLocal<>();

    /** The receiver of each stream's work. */
    private final Map<Long, Consumer<Runnable>> streams = new ConcurrentHashMap<>();

    long add(Consumer<Runnable> stream) {
        long handle = NEXT.getAndIncrement();
        streams.put(handle, stream);
        return handle;
    }

    void remove(long handle) {
        streams.remove(handle);
    }

    /** Directs a library's calls on this thread to this device. */
    void makeCurrent() {
        CURRENT.set(this);
    }

    boolean areCurrent() {
        return CURRENT.get() == this;
    }

    /** Runs work in the order of a stream. */
    void ask(long handle, Runnable work) {
        Consumer<Runnable> found = streams.get(handle);
        if (found == null) {
            throw new PtxFault("no stream has the handle %#x".formatted(handle));
        }
        found.accept(work);
    }
}
