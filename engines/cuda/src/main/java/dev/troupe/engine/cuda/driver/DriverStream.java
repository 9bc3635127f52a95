package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.device.LaunchArguments;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * A stream of the driver. Copies to and from the host go through pinned buffers in rotation, since host memory may be on the
 * heap, and the driver would copy unpinned memory itself.
 */
final class DriverStream implements DeviceStream {
    private static final long STAGING_BYTES = 1L << 20;
    /** The most copies to the GPU in flight; a further copy waits for the first of them. */
    private static final int STAGING_BUFFERS = 4;
    private static final int NOT_READY = 600;
    private static final int NON_BLOCKING = 1;
    private static final int WITHOUT_TIMING = 2;
    /** The limit on a wait for the stream, after which it counts as hanging. */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);
    /** Polls before the thread sleeps between them; most waits are short. */
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
    private final MethodHandle streamWait;
    private final MethodHandle destroyStream;
    private final MethodHandle destroyEvent;
    private final MethodHandle freeHost;
    private final MethodHandle createEvent;
    private final long stream;
    private final List<MemorySegment> staging = new ArrayList<>();
    /** By buffer, the point after which the GPU has read it. */
    private final Fence[] read = new Fence[STAGING_BUFFERS];
    private int turn;
    /** The lock of the staging buffers, held by a copy to or from the host. */
    private final Object hostLock = new Object();
    /** Recorded events, not known to be reached, in the order of their numbers; guards itself and all events. */
    private final Deque<Recorded> recorded = new ArrayDeque<>();
    private final Deque<Long> spareEvents = new ArrayDeque<>();
    private final List<DriverInstants> instants = new CopyOnWriteArrayList<>();
    private long lastNumber;
    private long reachedNumber;
    private boolean isClosed;

    private record Recorded(long number, long event) {
    }

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
        streamWait = driver.function("cuStreamWaitEvent", JAVA_LONG, JAVA_LONG, JAVA_INT);
        destroyStream = driver.function("cuStreamDestroy_v2", JAVA_LONG);
        destroyEvent = driver.function("cuEventDestroy_v2", JAVA_LONG);
        freeHost = driver.function("cuMemFreeHost", JAVA_LONG);
        MethodHandle createStream = driver.function("cuStreamCreate", ADDRESS, JAVA_INT);
        createEvent = driver.function("cuEventCreate", ADDRESS, JAVA_INT);
        MethodHandle allocateHost = driver.function("cuMemHostAlloc", ADDRESS, JAVA_LONG, JAVA_INT);
        stream = driver.ask("make a stream", result -> (int) createStream.invokeExact(result, NON_BLOCKING));
        for (int buffer = 0; buffer < STAGING_BUFFERS; buffer++) {
            long pinned = driver.ask("pin host memory",
                    result -> (int) allocateHost.invokeExact(result, STAGING_BYTES, 0));
            staging.add(MemorySegment.ofAddress(pinned).reinterpret(STAGING_BYTES));
            read[buffer] = Fence.REACHED;
        }
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
            return; // the memory is lost with the context
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

    /** The next staging buffer in rotation, after the GPU has read its contents. */
    private MemorySegment nextBuffer() {
        turn = (turn + 1) % STAGING_BUFFERS;
        read[turn].await();
        return staging.get(turn);
    }

    @Override
    public void toHost(long source, MemorySegment target) {
        device.makeCurrent();
        synchronized (hostLock) {
            for (long at = 0; at < target.byteSize(); at += STAGING_BYTES) {
                long from = source + at;
                long bytes = Math.min(STAGING_BYTES, target.byteSize() - at);
                MemorySegment buffer = nextBuffer();
                driver.call("copy memory to the host",
                        () -> (int) toHost.invokeExact(buffer.address(), from, bytes, stream));
                fence().await();
                MemorySegment.copy(buffer, 0, target, at, bytes);
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
                MemorySegment buffer = nextBuffer();
                MemorySegment.copy(source, at, buffer, 0, bytes);
                driver.call("copy memory from the host",
                        () -> (int) fromHost.invokeExact(to, buffer.address(), bytes, stream));
                read[turn] = fence();
            }
        }
    }

    @Override
    public void launch(String kernel, int columns, int rows, int threads, LaunchArguments arguments) {
        device.makeCurrent();
        long function = device.function(kernel);
        driver.call("launch " + kernel, () -> (int) launch.invokeExact(function, columns, rows, 1, threads, 1, 1, 0,
                stream, arguments.pointers(), 0L));
    }

    @Override
    public long handle() {
        if (driver.isLost()) {
            throw new LostDeviceException(device + " was lost; no engine of this process can use a GPU again");
        }
        device.makeCurrent();
        return stream;
    }

    @Override
    public Fence fence() {
        device.makeCurrent();
        synchronized (recorded) {
            long event = spareEvents.isEmpty()
                    ? driver.ask("make an event", result -> (int) createEvent.invokeExact(result, WITHOUT_TIMING))
                    : spareEvents.pop();
            driver.call("record an event", () -> (int) record.invokeExact(event, stream));
            recorded.add(new Recorded(++lastNumber, event));
            return new StreamFence(lastNumber);
        }
    }

    /** The stream reaches its events in order, so events before a reached fence are not polled. */
    private boolean isReached(long number) {
        device.makeCurrent();
        synchronized (recorded) {
            while (number > reachedNumber && hasHappened(recorded.peek().event)) {
                reachedNumber = recorded.peek().number;
                spareEvents.push(recorded.poll().event);
            }
            return number <= reachedNumber;
        }
    }

    private boolean hasHappened(long event) {
        return driver.isDone("wait for " + device, () -> (int) query.invokeExact(event), NOT_READY);
    }

    @Override
    public Instants instants(int count) {
        device.makeCurrent();
        DriverInstants made = new DriverInstants(driver, device, stream, this::fence, count);
        instants.add(made);
        return made;
    }

    @Override
    public void waitFor(Fence fence) {
        if (fence instanceof StreamFence other) {
            other.holdUp(this);
        } else {
            fence.await();
        }
    }

    /** Makes a stream wait until this one has reached a number. */
    private void holdUp(DriverStream other, long number) {
        other.device.makeCurrent();
        synchronized (recorded) { // a reached event is recorded again
            for (Recorded behind : recorded) {
                if (behind.number == number) {
                    driver.call("have a stream wait",
                            () -> (int) streamWait.invokeExact(other.stream, behind.event, 0));
                }
            }
        }
    }

    private final class StreamFence implements Fence {
        private final long number;

        StreamFence(long number) {
            this.number = number;
        }

        void holdUp(DriverStream other) {
            DriverStream.this.holdUp(other, number);
        }

        @Override
        public boolean isReached() {
            return DriverStream.this.isReached(number);
        }

        @Override
        public void await() {
            long deadline = System.nanoTime() + LONGEST_WAIT.toNanos();
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
    }

    @Override
    public void close() {
        synchronized (hostLock) {
            if (isClosed || driver.isLost()) {
                return;
            }
            device.makeCurrent();
            fence().await();
            isClosed = true;
            instants.forEach(DriverInstants::close);
            synchronized (recorded) {
                for (long event : spareEvents) { // primitive, as the function takes it
                    driver.call("end an event", () -> (int) destroyEvent.invokeExact(event));
                }
            }
            driver.call("end a stream", () -> (int) destroyStream.invokeExact(stream));
            staging.forEach(buffer -> driver.call("free pinned memory",
                    () -> (int) freeHost.invokeExact(buffer.address())));
        }
    }
}
