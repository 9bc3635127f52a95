package dev.troupe.engine.cuda.driver;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.troupe.engine.cuda.device.DeviceException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The peers of a GPU in this process: GPUs with memory that it reads and writes directly, by NVLink or PCIe (CUDA Driver
 * API, Peer Context Memory Access). Access to memory of a context and to memory of a pool are enabled separately; tensors
 * are in a pool.
 *
 * <p>Thread rule: any thread.
 */
final class DriverPeers {
    /** {@code CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED} */
    private static final int ALREADY_ENABLED = 704;
    /** {@code CU_MEM_LOCATION_TYPE_DEVICE} */
    private static final int ON_DEVICE = 1;
    /** {@code CU_MEM_ACCESS_FLAGS_PROT_READWRITE} */
    private static final int READ_AND_WRITE = 3;

    private final Driver driver;
    private final DriverDevice device;
    private final MethodHandle canAccess;
    private final MethodHandle enable;
    private final MethodHandle setAccess;
    /** The results of {@link #reaches} so far. */
    private final Map<DriverDevice, Boolean> reached = new ConcurrentHashMap<>();

    DriverPeers(Driver driver, DriverDevice device) {
        this.driver = driver;
        this.device = device;
        canAccess = driver.function("cuDeviceCanAccessPeer", ADDRESS, JAVA_INT, JAVA_INT);
        enable = driver.function("cuCtxEnablePeerAccess", JAVA_LONG, JAVA_INT);
        setAccess = driver.function("cuMemPoolSetAccess", JAVA_LONG, ADDRESS, JAVA_LONG);
    }

    /** Whether the device reaches the memory of another one; if it can, the first call enables access. */
    boolean reaches(DriverDevice peer) {
        Boolean known = reached.get(peer);
        return known != null ? known : reached.computeIfAbsent(peer, this::allow);
    }

    /** Whether the device can reach the memory of the GPU with an ordinal. */
    boolean mayReach(int ordinal) {
        return driver.ask("report whether " + device + " reaches GPU " + ordinal,
                result -> (int) canAccess.invokeExact(result, device.ordinal(), ordinal)) != 0;
    }

    private boolean allow(DriverDevice peer) {
        try {
            if (!mayReach(peer.ordinal())) {
                return false;
            }
            device.makeCurrent();
            driver.isDone("let " + device + " reach " + peer, () -> (int) enable.invokeExact(peer.context(), 0),
                    ALREADY_ENABLED);
            try (Arena local = Arena.ofConfined()) {
                MemorySegment access = local.allocateFrom(JAVA_INT, ON_DEVICE, device.ordinal(), READ_AND_WRITE);
                driver.call("let " + device + " reach the memory pool of " + peer,
                        () -> (int) setAccess.invokeExact(peer.pool(), access, 1L));
            }
            return true;
        } catch (DeviceException refused) { // tensors are copied through the host, as between GPUs that are no peers
            return false;
        }
    }
}
