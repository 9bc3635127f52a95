package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.device.Gpus;
import dev.troupe.engine.cuda.device.SharedAllocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A GPU of NVIDIA's driver, in the primary context of this process, with the engine's kernels loaded. It stays open for the
 * rest of the process; all engines of a GPU share it.
 *
 * <p>Thread rule: any thread.
 */
public final class DriverDevice implements Device {
    /** {@code CU_MEMPOOL_ATTR_RELEASE_THRESHOLD} */
    private static final int RELEASE_THRESHOLD = 4;

    private final Driver driver;
    private final Gpus.Gpu gpu;
    private final long context;
    private final long pool;
    private final DriverPeers peers;
    /** Null until memory is shared, since a driver from before 2021 has no functions for it. */
    private DriverSharing sharing;
    private final long module;
    private final MethodHandle setCurrent;
    private final MethodHandle getFunction;
    private final Map<String, Long> functions = new ConcurrentHashMap<>();
    /** Null until a time is requested. */
    private DriverEvents events;
    private DeviceClock clock;

    DriverDevice(Driver driver, Gpus.Gpu gpu, String ptx) {
        this.driver = driver;
        this.gpu = gpu;
        setCurrent = driver.function("cuCtxSetCurrent", JAVA_LONG);
        getFunction = driver.function("cuModuleGetFunction", ADDRESS, JAVA_LONG, ADDRESS);
        MethodHandle retain = driver.function("cuDevicePrimaryCtxRetain", ADDRESS, JAVA_INT);
        MethodHandle load = driver.function("cuModuleLoadData", ADDRESS, ADDRESS);
        MethodHandle defaultPool = driver.function("cuDeviceGetDefaultMemPool", ADDRESS, JAVA_INT);
        MethodHandle setAttribute = driver.function("cuMemPoolSetAttribute", JAVA_LONG, JAVA_INT, ADDRESS);
        context = driver.ask("open " + gpu, result -> (int) retain.invokeExact(result, gpu.ordinal()));
        makeCurrent();
        try (Arena local = Arena.ofConfined()) {
            MemorySegment text = local.allocateFrom(ptx);
            module = driver.ask("compile the kernels for " + gpu, result -> (int) load.invokeExact(result, text));
            // Freed memory stays with the process, since a step allocates what the previous one has freed.
            MemorySegment all = local.allocateFrom(JAVA_LONG, -1L);
            pool = driver.ask("find the memory pool of " + gpu,
                    result -> (int) defaultPool.invokeExact(result, gpu.ordinal()));
            driver.call("set the memory pool of " + gpu,
                    () -> (int) setAttribute.invokeExact(pool, RELEASE_THRESHOLD, all));
        }
        peers = new DriverPeers(driver, this);
    }

    @Override
    public DeviceStream openStream() {
        makeCurrent();
        return new DriverStream(driver, this);
    }

    @Override
    public boolean reaches(Device other) {
        return other == this || other instanceof DriverDevice peer && peers.reaches(peer);
    }

    @Override
    public SharedAllocation share(long bytes) {
        return sharing().share(bytes);
    }

    @Override
    public Optional<SharedAllocation> openShared(byte[] handle) {
        return sharing().open(handle);
    }

    private synchronized DriverSharing sharing() {
        if (sharing == null) {
            sharing = new DriverSharing(driver, this, peers);
        }
        return sharing;
    }

    int ordinal() {
        return gpu.ordinal();
    }

    long context() {
        return context;
    }

    /** The driver's handle of the pool from which its streams allocate. */
    long pool() {
        return pool;
    }

    synchronized DriverEvents events() {
        if (events == null) {
            makeCurrent();
            events = new DriverEvents(driver);
        }
        return events;
    }

    synchronized DeviceClock clock() {
        if (clock == null) {
            clock = new DeviceClock(events(), System::nanoTime);
        }
        return clock;
    }

    /** Directs the driver's calls on this thread to this GPU. */
    void makeCurrent() {
        driver.call("turn to " + gpu, () -> (int) setCurrent.invokeExact(context));
    }

    long function(String kernel) {
        Long known = functions.get(kernel);
        if (known != null) {
            return known;
        }
        return functions.computeIfAbsent(kernel, name -> {
            try (Arena local = Arena.ofConfined()) {
                MemorySegment text = local.allocateFrom(name);
                return driver.ask("find the kernel " + name,
                        result -> (int) getFunction.invokeExact(result, module, text));
            }
        });
    }

    @Override
    public String toString() {
        return gpu.toString();
    }
}
