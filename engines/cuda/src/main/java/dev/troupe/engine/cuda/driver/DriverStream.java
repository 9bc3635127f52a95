package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.cuda.device.Arguments;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.DeviceStream;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A stream of the driver. Copies to and from the host go through a buffer of pinned memory: the GPU reads and writes no
 * other without a copy by the driver, and host memory may be on the heap.
 */
final class DriverStream implements DeviceStream {
    private static final long STAGING_BYTES = 4L << 20;
    private static final int NOT_READY = 600;
    private static final int NON_BLOCKING = 1;
    private static final int WITHOUT_TIMING = 2;
    /** The longest that the stream is waited for: what takes longer hangs. */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);
    /** Looks before the thread sleeps between them; most waits are short. */
    private static final int QUICK_LOOKS = 1000;
    private static final long SLEEP_NANOS = 20_000;

    private final Driver driver;
    private final DriverDevice device;
    private final MethodHandle allocate;
    private final MethodHandle free;
    private final MethodHandle fill;
    private final MethodHandle clear;
    private final MethodHandle copy;
    private final MethodHandle toHost;
    private final MethodHandle fromHost;
    private final MethodHandle launch;
    private final MethodHandle record;
    private final MethodHandle query;
    private final MethodHandle destroyStream;
    private final MethodHandle destroyEvent;
    private final MethodHandle freeHost;
    private final long stream;
    private final long event;
    private final MemorySegment staging;
    /** Held by a copy to or from the host, which uses the staging buffer, and by a wait, which uses the event. */
    private final Object hostLock = new Object();
    private boolean isClosed;

    @SuppressWarnings("restricted")
    DriverStream(Driver driver, DriverDevice device) {
        this.driver = driver;
        this.device = device;
        allocate = driver.function("cuMemAllocAsync", ADDRESS, JAVA_LONG, JAVA_LONG);
        free = driver.function("cuMemFreeAsync", JAVA_LONG, JAVA_LONG);
        fill = driver.function("cuMemsetD32Async", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
        clear = driver.function("cuMemsetD8Async", JAVA_LONG, JAVA_BYTE, JAVA_LONG, JAVA_LONG);
        copy = driver.function("cuMemcpyDtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        toHost = driver.function("cuMemcpyDtoHAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        fromHost = driver.function("cuMemcpyHtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        launch = driver.function("cuLaunchKernel", JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT,
                JAVA_INT,
                JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        record = driver.function("cuEventRecord", JAVA_LONG, JAVA_LONG);
        query = driver.function("cuEventQuery", JAVA_LONG);
        destroyStream = driver.function("cuStreamDestroy_v2", JAVA_LONG);
        destroyEvent = driver.function("cuEventDestroy_v2", JAVA_LONG);
        freeHost = driver.function("cuMemFreeHost", JAVA_LONG);
        MethodHandle createStream = driver.function("cuStreamCreate", ADDRESS, JAVA_INT);
        MethodHandle createEvent = driver.function("cuEventCreate", ADDRESS, JAVA_INT);
        MethodHandle allocateHost = driver.function("cuMemHostAlloc", ADDRESS, JAVA_LONG, JAVA_INT);
        stream = driver.ask("make a stream", result -> (int) createStream.invokeExact(result, NON_BLOCKING));
        event = driver.ask("make an event", result -> (int) createEvent.invokeExact(result, WITHOUT_TIMING));
        long pinned = driver.ask("pin host memory",
                result -> (int) allocateHost.invokeExact(result, STAGING_BYTES, 0));
        staging = MemorySegment.ofAddress(pinned).reinterpret(STAGING_BYTES);
    }

    @Override
    public long allocate(long bytes) {
        device.makeCurrent();
        return driver.ask("allocate " + bytes + " bytes on " + device,
                result -> (int) allocate.invokeExact(result, bytes, stream));
    }

    @Override
    public void free(long address) {
        if (driver.isLost()) {
            return; // the memory went with the context
        }
        device.makeCurrent();
        driver.call("free memory", () -> (int) free.invokeExact(address, stream));
    }

    @Override
    public void fill(long address, int word, long words) {
        device.makeCurrent();
        driver.call("fill memory", () -> (int) fill.invokeExact(address, word, words, stream));
    }

    @Override
    public void clear(long address, long bytes) {
        device.makeCurrent();
        driver.call("clear memory", () -> (int) clear.invokeExact(address, (byte) 0, bytes, stream));
    }

    @Override
    public void copy(long source, long target, long bytes) {
        device.makeCurrent();
        driver.call("copy memory", () -> (int) copy.invokeExact(target, source, bytes, stream));
    }

    @Override
    public void toHost(long source, MemorySegment target) {
        device.makeCurrent();
        synchronized (hostLock) {
            for (long at = 0; at < target.byteSize(); at += STAGING_BYTES) {
                long from = source + at;
                long bytes = Math.min(STAGING_BYTES, target.byteSize() - at);
                driver.call("copy memory to the host",
                        () -> (int) toHost.invokeExact(staging.address(), from, bytes, stream));
                await();
                MemorySegment.copy(staging, 0, target, at, bytes);
            }
        }
    }

    @Override
    public void fromHost(MemorySegment source, long target) {
        device.makeCurrent();
        synchronized (hostLock) {
            for (long at = 0; at < source.byteSize(); at += STAGING_BYTES) {
                long to = target + at;
                long bytes = Math.min(STAGING_BYTES, source.byteSize() - at);
                MemorySegment.copy(source, at, staging, 0, bytes);
                driver.call("copy memory from the host",
                        () -> (int) fromHost.invokeExact(to, staging.address(), bytes, stream));
                await();
            }
        }
    }

    @Override
    public void launch(String kernel, int columns, int rows, int threads, Arguments arguments) {
        device.makeCurrent();
        long function = device.function(kernel);
        driver.call("launch " + kernel, () -> (int) launch.invokeExact(function, columns, rows, 1, threads, 1, 1, 0,
                stream, arguments.pointers(), 0L));
    }

    /** Returns when all that was asked has been done. */
    private void await() {
        long deadline = System.nanoTime() + LONGEST_WAIT.toNanos();
        driver.call("record an event", () -> (int) record.invokeExact(event, stream));
        for (int looks = 0; !isReached(); looks++) {
            if (System.nanoTime() - deadline > 0) {
                throw new DeviceException(device + " has not done what it was asked within "
                        + LONGEST_WAIT.toMinutes() + " minutes; see nvidia-smi and the kernel's log");
            }
            if (looks < QUICK_LOOKS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(SLEEP_NANOS);
            }
        }
    }

    private boolean isReached() {
        int[] status = new int[1];
        driver.call("wait for " + device, () -> {
            status[0] = (int) query.invokeExact(event);
            return status[0] == NOT_READY ? 0 : status[0];
        });
        return status[0] == 0;
    }

    @Override
    public void close() {
        synchronized (hostLock) {
            if (isClosed || driver.isLost()) {
                return;
            }
            device.makeCurrent();
            await();
            isClosed = true;
            driver.call("end an event", () -> (int) destroyEvent.invokeExact(event));
            driver.call("end a stream", () -> (int) destroyStream.invokeExact(stream));
            driver.call("free pinned memory", () -> (int) freeHost.invokeExact(staging.address()));
        }
    }
}
