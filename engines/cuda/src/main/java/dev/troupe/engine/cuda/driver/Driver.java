package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * NVIDIA's driver, {@code libcuda.so.1}, called by the foreign function API (CUDA Driver API, cuda.h of CUDA 12). Functions
 * have the library's names: cuda.h's names are macros for the later of two versions; the earlier version has sizes of 32
 * bits.
 *
 * <p>Thread rule: any thread.
 */
final class Driver {
    static final String LIBRARY = "libcuda.so.1";
    /** The requested version of the API: 12.0. */
    private static final int API_VERSION = 12000;
    private static final int DONE = 0;
    private static final long MOST_CHARACTERS = 4096;

    /**
     * Errors after which, by cuda.h, the context or the process cannot be used (illegal addresses and instructions, failed
     * launches, asserts, timeouts of kernels, memory and links that are broken, devices that are gone), and the unknown one.
     */
    private static final Set<Integer> LOSING = Set.of(214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719,
            721, 810, 911, 999);

    private final SymbolLookup library;
    /** A lookup of functions by version; empty in drivers before 12.0, which have them by name only. */
    private final Optional<MethodHandle> procAddress;
    private final MethodHandle errorString;
    private volatile boolean isLost;

    Driver(SymbolLookup library) {
        this.library = library;
        this.procAddress = library.find("cuGetProcAddress_v2")
                .map(symbol -> handle(symbol, ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS));
        this.errorString = function("cuGetErrorString", JAVA_INT, ADDRESS);
    }

    @FunctionalInterface
    interface Call {
        int invoke() throws Throwable;
    }

    /** A call of the driver that writes a result of up to eight bytes. */
    @FunctionalInterface
    interface Query {
        int invoke(MemorySegment result) throws Throwable;
    }

    /** The driver of this machine; empty if the loader finds none. It stays loaded. */
    @SuppressWarnings("restricted")
    static Optional<Driver> find() {
        SymbolLookup library;
        try {
            library = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
        } catch (IllegalArgumentException missing) {
            return Optional.empty();
        }
        return Optional.of(new Driver(library));
    }

    /**
     * A function that returns a status.
     *
     * @throws DeviceException if the driver has none of that name
     */
    MethodHandle function(String name, MemoryLayout... parameters) {
        MemorySegment symbol = versioned(name).or(() -> library.find(name)).orElseThrow(
                () -> new DeviceException("NVIDIA's driver has no function " + name
                        + ", which the cuda engine needs; install one of 2021 (CUDA 11.2) or later"));
        return handle(symbol, parameters);
    }

    /** The address of a function of this version, by the driver's own lookup. */
    private Optional<MemorySegment> versioned(String name) {
        if (procAddress.isEmpty()) {
            return Optional.empty();
        }
        try (Arena local = Arena.ofConfined()) {
            MemorySegment found = local.allocate(ADDRESS);
            int status = (int) procAddress.get().invokeExact(local.allocateFrom(name.replaceFirst("_v\\d+$", "")),
                    found,
                    API_VERSION, 0L, MemorySegment.NULL);
            MemorySegment function = found.get(ADDRESS, 0);
            return status == DONE && function.address() != 0 ? Optional.of(function) : Optional.empty();
        } catch (Throwable failure) {
            throw new DeviceException("NVIDIA's driver could not be asked for " + name + ": " + failure, failure);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(MemorySegment symbol, MemoryLayout... parameters) {
        return Linker.nativeLinker().downcallHandle(symbol, FunctionDescriptor.of(JAVA_INT, parameters));
    }

    /**
     * Calls a function; its purpose is for the sentence of a failure.
     *
     * @throws DeviceException if it fails and the next may succeed
     * @throws LostDeviceException if no call of this process succeeds any more
     */
    void call(String what, Call call) {
        int status;
        try {
            status = call.invoke();
        } catch (Throwable failure) {
            throw new DeviceException("NVIDIA's driver could not be called to " + what + ": " + failure, failure);
        }
        if (status != DONE) {
            throw failure(
                    String.format(Locale.ROOT, "NVIDIA's driver could not %s: %s (error %d)", what, sentence(status),
                            status),
                    status);
        }
    }

    /** Calls a function that returns {@code notYet} until its work is done. */
    boolean isDone(String what, Call call, int notYet) {
        int[] status = new int[1];
        call(what, () -> {
            status[0] = call.invoke();
            return status[0] == notYet ? DONE : status[0];
        });
        return status[0] == DONE;
    }

    private RuntimeException failure(String sentence, int status) {
        isLost |= losesDevice(status);
        return losesDevice(status)
                ? new LostDeviceException(sentence + "; no engine of this process can use a GPU again")
                : new DeviceException(sentence);
    }

    /** Whether all later calls of the process fail after this error. */
    static boolean losesDevice(int status) {
        return LOSING.contains(status);
    }

    /** Whether an error has occurred after which every call of this process fails. */
    boolean isLost() {
        return isLost;
    }

    long ask(String what, Query query) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment result = local.allocate(JAVA_LONG);
            call(what, () -> query.invoke(result));
            return result.get(JAVA_LONG, 0);
        }
    }

    @SuppressWarnings("restricted")
    private String sentence(int status) {
        try (Arena local = Arena.ofConfined()) {
            MemorySegment found = local.allocate(ADDRESS);
            int known = (int) errorString.invokeExact(status, found);
            return known == DONE
                    ? found.get(ADDRESS, 0).reinterpret(MOST_CHARACTERS).getString(0)
                    : "an error that it has no words for";
        } catch (Throwable failure) {
            return "an error without a readable description";
        }
    }
}
