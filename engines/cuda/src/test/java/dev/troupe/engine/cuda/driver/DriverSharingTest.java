package dev.troupe.engine.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.Gpus.Gpu;
import dev.troupe.engine.cuda.device.SharedAllocation;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the driver's calls for peers and shared memory, and of the handling of its answers. */
@Tag("plan")
class DriverSharingTest {
    private static final long OWNED = 5_000_000_000L;
    private static final long OPENED = 6_000_000_000L;

    private final FakeDriver fake = new FakeDriver();
    private final Driver driver = new Driver(fake);
    private final DriverDevice first = device(0);
    private final DriverDevice second = device(1);

    private DriverDevice device(int ordinal) {
        return new DriverDevice(driver, new Gpu(ordinal, "A100", 80L << 30, 80), "no kernels");
    }

    @Test
    void shouldLetAPeerReachContextAndPoolOnce() {
        assertTrue(first.reaches(first));
        assertEquals(List.of(), fake.calls);
        assertTrue(first.reaches(second));
        assertTrue(first.reaches(second));
        assertEquals(List.of("cuDeviceCanAccessPeer 0 1", "cuCtxEnablePeerAccess 101 0",
                "cuMemPoolSetAccess 201 1,0,3 1"), fake.calls, "a device (1), its ordinal, reads and writes (3)");
    }

    @Test
    void shouldReachAPeerThatAnotherLibraryHasEnabled() {
        fake.refusals.put("cuCtxEnablePeerAccess", FakeDriver.PEER_ACCESS_ALREADY_ENABLED);
        assertTrue(first.reaches(second));
    }

    @Test
    void shouldNotReachADeviceIfTheDriverDeniesOrRefusesIt() {
        fake.arePeers = false;
        assertFalse(first.reaches(second));
        assertEquals(List.of("cuDeviceCanAccessPeer 0 1"), fake.calls);
        fake.arePeers = true;
        fake.refusals.put("cuMemPoolSetAccess", FakeDriver.OUT_OF_MEMORY);
        assertFalse(second.reaches(first));
    }

    @Test
    void shouldOpenSharedMemoryOnTheSameGpu() {
        SharedAllocation shared = first.share(3L << 32);
        assertEquals(OWNED, shared.address());
        fake.uuids = new int[]{9, 7}; // as a process numbers its GPUs that sees others
        SharedAllocation opened = second.openShared(shared.handle()).orElseThrow();
        assertEquals(OPENED, opened.address());
        assertEquals(3L << 32, opened.byteCount());
        opened.close();
        opened.close();
        shared.close();
        assertEquals(List.of("cuMemAlloc_v2 " + (3L << 32), "cuIpcGetMemHandle " + OWNED,
                "cuIpcOpenMemHandle_v2 64 true 1", "cuIpcCloseMemHandle " + OPENED, "cuMemFree_v2 " + OWNED),
                fake.calls);
    }

    @Test
    void shouldOpenOnAPeerOnly() {
        byte[] handle = first.share(64).handle();
        fake.calls.clear();
        assertTrue(second.openShared(handle).isPresent());
        fake.arePeers = false;
        assertEquals(Optional.empty(), second.openShared(handle));
        fake.uuids = new int[]{9, 8};
        assertEquals(Optional.empty(), second.openShared(handle), "a GPU that this process does not see");
        assertEquals(List.of("cuDeviceCanAccessPeer 1 0", "cuIpcOpenMemHandle_v2 64 true 1",
                "cuDeviceCanAccessPeer 1 0"), fake.calls);
    }

    @Test
    void shouldFreeMemoryThatGetsNoHandle() {
        fake.refusals.put("cuIpcGetMemHandle", 801);
        assertEquals("NVIDIA's driver could not share memory of GPU 0 (A100, 80.0 GiB, compute capability 8.0) with"
                + " other processes: as the test wants (error 801)",
                assertThrows(DeviceException.class, () -> first.share(64)).getMessage());
        assertEquals("cuMemFree_v2 " + OWNED, fake.calls.getLast());
        fake.refusals.clear();
        byte[] handle = first.share(64).handle();
        fake.refusals.put("cuIpcOpenMemHandle_v2", 201);
        assertThrows(DeviceException.class, () -> first.openShared(handle), "of this process itself");
        assertThrows(DeviceException.class, () -> first.openShared(new byte[5]));
    }
}
