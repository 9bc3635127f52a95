package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.Gpus;
import dev.troupe.engine.provider.Finding;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The GPUs that NVIDIA's driver lists, which CUDA_VISIBLE_DEVICES limits.
 *
 * <p>Thread rule: any thread.
 */
public final class DriverGpus implements Gpus {
    private static final int CAPABILITY_MAJOR = 75;
    private static final int CAPABILITY_MINOR = 76;
    private static final int MOST_CHARACTERS = 256;
    /** The driver's version 13000 is 13.0, and 12080 is 12.8. */
    private static final int MAJOR = 1000;
    private static final int MINOR = 10;

    private static final DriverGpus HERE = look();

    private final Driver driver;
    private final String version;
    private final List<Gpu> gpus;
    private final String obstacle;
    /** The devices that this process has opened, by their ordinals. */
    private final Map<Integer, Device> opened = new HashMap<>();

    private DriverGpus(Driver driver, String version, List<Gpu> gpus, String obstacle) {
        this.driver = driver;
        this.version = version;
        this.gpus = List.copyOf(gpus);
        this.obstacle = obstacle;
    }

    /** The GPUs of this machine; listed once in a process. */
    public static DriverGpus here() {
        return HERE;
    }

    @Override
    public List<Finding> findings() {
        return List.of(LibrarySearch.ofThisMachine().driver());
    }

    @Override
    public Optional<String> obstacle() {
        return Optional.ofNullable(obstacle);
    }

    @Override
    public List<Gpu> list() {
        return gpus;
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public synchronized Device open(Gpu gpu, Supplier<String> ptx) {
        return opened.computeIfAbsent(gpu.ordinal(), _ -> new DriverDevice(driver, gpu, ptx.get()));
    }

    private static DriverGpus look() {
        try {
            Optional<Driver> found = Driver.find();
            if (found.isEmpty()) {
                return none("the cuda engine needs NVIDIA's driver, but the loader finds no " + Driver.LIBRARY
                        + " (in LD_LIBRARY_PATH or the system's folders); install the driver, or take the engine cpu");
            }
            DriverGpus gpus = ask(found.get());
            return gpus.gpus.isEmpty()
                    ? none("the cuda engine needs an NVIDIA GPU, but the driver lists none; check CUDA_VISIBLE_DEVICES, or"
                            + " take the engine cpu")
                    : gpus;
        } catch (DeviceException | LostDeviceException failure) {
            return none("the cuda engine needs a working driver and GPU, but: " + failure.getMessage()
                    + "; see nvidia-smi, or take the engine cpu");
        }
    }

    private static DriverGpus none(String obstacle) {
        return new DriverGpus(null, "", List.of(), obstacle);
    }

    private static DriverGpus ask(Driver driver) {
        MethodHandle init = driver.function("cuInit", JAVA_INT);
        MethodHandle driverVersion = driver.function("cuDriverGetVersion", ADDRESS);
        MethodHandle deviceCount = driver.function("cuDeviceGetCount", ADDRESS);
        MethodHandle deviceName = driver.function("cuDeviceGetName", ADDRESS, JAVA_INT, JAVA_INT);
        MethodHandle totalMemory = driver.function("cuDeviceTotalMem_v2", ADDRESS, JAVA_INT);
        MethodHandle attribute = driver.function("cuDeviceGetAttribute", ADDRESS, JAVA_INT, JAVA_INT);
        driver.call("begin", () -> (int) init.invokeExact(0));
        long version = driver.ask("report its version", result -> (int) driverVersion.invokeExact(result));
        long count = driver.ask("count GPUs", result -> (int) deviceCount.invokeExact(result));
        List<Gpu> gpus = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int ordinal = i;
            long memory = driver.ask("report the memory of GPU " + i,
                    result -> (int) totalMemory.invokeExact(result, ordinal));
            long major = driver.ask("report the capability of GPU " + i,
                    result -> (int) attribute.invokeExact(result, CAPABILITY_MAJOR, ordinal));
            long minor = driver.ask("report the capability of GPU " + i,
                    result -> (int) attribute.invokeExact(result, CAPABILITY_MINOR, ordinal));
            gpus.add(new Gpu(i, name(driver, deviceName, i), memory, (int) (10 * major + minor)));
        }
        return new DriverGpus(driver, version / MAJOR + "." + version % MAJOR / MINOR, gpus, null);
    }

    private static String name(Driver driver, MethodHandle deviceName, int ordinal) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment name = local.allocate(MOST_CHARACTERS);
            driver.call("name GPU " + ordinal, () -> (int) deviceName.invokeExact(name, MOST_CHARACTERS, ordinal));
            return name.getString(0);
        }
    }
}
