package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.troupe.engine.cuda.device.Device;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.SharedAllocation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Memory of a GPU that processes share by CUDA IPC (CUDA Driver API, Memory Management). It is allocated separately, since
 * the driver has no handles for memory of a pool. A handle consists of the UUID of the GPU, which may have another ordinal
 * in another process, the driver's handle, and the size.
 *
 * <p>Thread rule: any thread.
 */
final class DriverSharing {
    /** {@code CU_IPC_HANDLE_SIZE} */
    static final int HANDLE_BYTES = 64;
    private static final int UUID_BYTES = 16;
    private static final int WHOLE_BYTES = UUID_BYTES + HANDLE_BYTES + Long.BYTES;
    /** {@code CUipcMemHandle}, which is passed by value, not by address. */
    private static final StructLayout HANDLE = MemoryLayout
            .structLayout(MemoryLayout.sequenceLayout(HANDLE_BYTES, JAVA_BYTE).withName("reserved"));
    /** {@code CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}, the only flag. */
    private static final int LAZY_ENABLE_PEER_ACCESS = 1;

    private final Driver driver;
    private final DriverDevice device;
    private final DriverPeers peers;
    private final MethodHandle allocate;
    private final MethodHandle free;
    private final MethodHandle getHandle;
    private final MethodHandle openHandle;
    private final MethodHandle closeHandle;
    private final MethodHandle count;
    private final MethodHandle getUuid;

    DriverSharing(Driver driver, DriverDevice device, DriverPeers peers) {
        this.driver = driver;
        this.device = device;
        this.peers = peers;
        allocate = driver.function("cuMemAlloc_v2", ADDRESS, JAVA_LONG);
        free = driver.function("cuMemFree_v2", JAVA_LONG);
        getHandle = driver.function("cuIpcGetMemHandle", ADDRESS, JAVA_LONG);
        openHandle = driver.function("cuIpcOpenMemHandle_v2", ADDRESS, HANDLE, JAVA_INT);
        closeHandle = driver.function("cuIpcCloseMemHandle", JAVA_LONG);
        count = driver.function("cuDeviceGetCount", ADDRESS);
        getUuid = driver.function("cuDeviceGetUuid_v2", ADDRESS, JAVA_INT);
    }

    SharedAllocation share(long bytes) {
        device.makeCurrent();
        long address = driver.ask("allocate " + bytes + " bytes to share on " + device,
                result -> (int) allocate.invokeExact(result, bytes));
        byte[] handle = new byte[WHOLE_BYTES];
        try (Arena local = Arena.ofConfined()) {
            MemorySegment ofDriver = local.allocate(HANDLE);
            driver.call("share memory of " + device + " with other processes",
                    () -> (int) getHandle.invokeExact(ofDriver, address));
            MemorySegment whole = MemorySegment.ofArray(handle).copyFrom(uuid(device.ordinal(), local));
            MemorySegment.copy(ofDriver, 0, whole, UUID_BYTES, HANDLE_BYTES);
            whole.set(JAVA_LONG_UNALIGNED, UUID_BYTES + HANDLE_BYTES, bytes);
        } catch (DeviceException refused) {
            driver.call("free memory", () -> (int) free.invokeExact(address));
            throw refused;
        }
        return part(address, bytes, handle, free);
    }

    Optional<SharedAllocation> open(byte[] handle) {
        if (handle.length != WHOLE_BYTES) {
            throw new DeviceException("a handle of shared memory must have " + WHOLE_BYTES + " bytes, but found "
                    + handle.length);
        }
        device.makeCurrent();
        try (Arena local = Arena.ofConfined()) {
            MemorySegment whole = MemorySegment.ofArray(handle);
            OptionalInt owner = ordinalOf(whole.asSlice(0, UUID_BYTES), local);
            if (owner.isEmpty() || owner.getAsInt() != device.ordinal() && !peers.mayReach(owner.getAsInt())) {
                return Optional.empty();
            }
            MemorySegment ofDriver = local.allocate(HANDLE).copyFrom(whole.asSlice(UUID_BYTES, HANDLE_BYTES));
            long address = driver.ask("open memory that another process shares on " + device,
                    result -> (int) openHandle.invokeExact(result, ofDriver, LAZY_ENABLE_PEER_ACCESS));
            return Optional.of(part(address, whole.get(JAVA_LONG_UNALIGNED, UUID_BYTES + HANDLE_BYTES), handle,
                    closeHandle));
        }
    }

    /** This process's ordinal of a GPU by its UUID; empty if this process does not see it. */
    private OptionalInt ordinalOf(MemorySegment uuid, Arena local) {
        long gpus = driver.ask("count GPUs", result -> (int) count.invokeExact(result));
        for (int ordinal = 0; ordinal < gpus; ordinal++) {
            if (uuid(ordinal, local).mismatch(uuid) < 0) {
                return OptionalInt.of(ordinal);
            }
        }
        return OptionalInt.empty();
    }

    private MemorySegment uuid(int ordinal, Arena local) {
        MemorySegment uuid = local.allocate(UUID_BYTES);
        driver.call("report the UUID of GPU " + ordinal, () -> (int) getUuid.invokeExact(uuid, ordinal));
        return uuid;
    }

    /** Shared memory; the function to end its use takes its address. */
    private SharedAllocation part(long address, long bytes, byte[] handle, MethodHandle end) {
        return new SharedAllocation(device, address, bytes, handle, () -> {
            if (!driver.isLost()) {
                device.makeCurrent();
                driver.call("end the use of shared memory", () -> (int) end.invokeExact(address));
            }
        });
    }
}
