package dev.troupe.engine.cuda.driver;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of which errors of the driver end the use of GPUs in a process, by the numbers of cuda.h. */
@Tag("plan")
class DriverTest {
    /** ECC, NVLink, contained, illegal address, timeout, context, assert, stack to launch, leak, MPS, external. */
    @ParameterizedTest
    @ValueSource(ints = {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999})
    void shouldTreatTheDeviceAsLost(int status) {
        assertTrue(Driver.losesDevice(status));
    }

    /** Value, memory, device, PTX, version of PTX, not found, not ready, resources. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 101, 218, 222, 500, 600, 701})
    void shouldTreatTheCallAsRefused(int status) {
        assertFalse(Driver.losesDevice(status));
    }
}
