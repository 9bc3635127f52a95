package dev.troupe.engine.cuda.blas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.troupe.engine.cuda.blas.CublasLt.Attribute;
import dev.troupe.engine.cuda.blas.CublasLt.Preference;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.driver.DriverGpus;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The binding on a real cuBLASLt, where {@link CublasSearch} finds one: without a driver, what is on the host alone. To have
 * one found, put its folder into LD_LIBRARY_PATH; a JVM takes half a second to load it.
 */
@Tag("plan")
class RealCublasLtTest {
    private static CublasLt library;

    @BeforeAll
    static void find() {
        try {
            library = CublasLt.at(CublasSearch.ofThisMachine().find(Integer.MAX_VALUE));
        } catch (IllegalStateException absent) {
            assumeTrue(false, absent.getMessage());
        }
    }

    @Test
    void shouldNameItsVersion() {
        assertTrue(library.name().matches("cuBLASLt 1[23]\\.\\d+\\.\\d+"), library.name());
    }

    @Test
    void shouldReportAMissingDriver() {
        assumeTrue(DriverGpus.here().obstacle().isPresent(), "this machine has a driver");
        assertEquals(
                library.name() + " (" + library.file() + ") could not begin: CUBLAS_STATUS_NOT_INITIALIZED (status 1)",
                assertThrows(DeviceException.class, library::createHandle).getMessage());
    }

    /** The library checks the size of each attribute, and that it knows it. */
    @Test
    void shouldKeepThePropertiesOfAProduct() {
        long operation = library.createOperation();
        Map<Attribute, Long> values = Map.of(Attribute.TRANSA, (long) CublasLt.CUBLAS_OP_T, Attribute.TRANSB,
                (long) CublasLt.CUBLAS_OP_N, Attribute.EPILOGUE, (long) CublasLt.CUBLASLT_EPILOGUE_BIAS,
                Attribute.BIAS_POINTER, 0x7f_1234_5678_9a00L, Attribute.BIAS_DATA_TYPE, (long) CublasLt.CUDA_R_32F);
        assertEquals(Attribute.values().length, values.size());
        values.forEach((attribute, value) -> library.set(operation, attribute, value));
        values.forEach((attribute, value) -> assertEquals(value, library.get(operation, attribute), attribute.name()));
        library.destroyOperation(operation);
    }

    @Test
    void shouldTakeLayoutsAndPreferences() {
        library.destroyLayout(library.createLayout(CublasLt.CUDA_R_16BF, 768, 3072, 768));
        library.destroyLayout(library.createLayout(CublasLt.CUDA_R_32F, 50257, 16384, 50257));
        long preference = library.createPreference();
        for (Preference attribute : Preference.values()) {
            library.set(preference, attribute,
                    attribute == Preference.MAX_WORKSPACE_BYTES ? CublasLtProducts.WORKSPACE_BYTES : 16);
        }
        library.destroyPreference(preference);
    }
}
